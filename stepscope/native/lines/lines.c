/* The line engine's slow paths: entering, leaving, stamping loops, thinning out. */
#include "lines/lines.h"
#include "interpreter/events.h"
#include "lines/counters.h"
#include "lines/front.h"
#include "lines/settled.h"
#include "lines/stamps.h"
#include "storage/storage.h"

enum {
    STAMPS_A_SECOND = 1000,
    CHAIN_LOOK = 256, /* frames to look up for the caller's activation */
    COUNTERS_EVERY_MS = 10,
    UNSEEN_EXITS = 1000,
};

int lines_on, lines_any_thinned;
uint64_t lines_thin_below = 10000;

int lines_way(void) {
    return line_log_on || clock_kind != CLOCK_KIND_COUNTER ? LINES_ON : LINES_SHORTLY;
}

/* ---- entering and leaving ---------------------------------------------------------------------- */

static void close_opens(Activation *activation, uint64_t now) {
    for (uint64_t offset = activation->opens; offset;) {
        Event *event = event_at(offset);
        if (!event) break;
        event->end = now;
        offset = event->value1; /* the one before it */
    }
    activation->opens = 0;
}

void activation_pop(Thread *thread, uint64_t now) {
    Activation *top = thread->top;
    top->current->ticks += now - top->since;
    if (top->record->block) top->record->block->exits++;
    if (UNLIKELY(top->opens)) close_opens(top, now);
    top->frame = NULL;
    thread->top = top - 1;
    if (UNLIKELY(line_log_on)) line_log_returned(thread, now);
}

/* Without adding time: its end was not seen (a switched greenlet, a place that was off). */
static void drop_top(Thread *thread, uint64_t now) {
    if (thread->top->opens) close_opens(thread->top, now);
    thread->top->frame = NULL;
    thread->top--;
}

static int is_caller(void *wanted, Frame *frame) {
    for (int i = 0; frame && i < CHAIN_LOOK; i++, frame = frame_previous(frame))
        if ((void *)frame == wanted) return 1;
    return frame != NULL; /* too deep to know: assume so */
}

static void drop_stale(Thread *thread, Frame *frame, uint64_t now) {
    while (thread->top > thread->base && !is_caller(thread->top->frame, frame))
        drop_top(thread, now);
}

static Activation *enter(Thread *thread, CodeRecord *record, void *frame, PyObject *code,
                         uint64_t now) {
    Activation *top = thread_push(thread);
    if (!top) return NULL;
    *top = (Activation){.code = code, .lines = record->lines, .current = &line_nowhere,
                        .since = now, .entered = now, .record = record};
    __atomic_store_n(&top->frame, frame, __ATOMIC_RELEASE);
    return top;
}

/* The activation of `frame`, made if need be; NULL: this code is not recorded. */
static Activation *activation_for(void *frame, PyObject *code, uint64_t now, int check_chain) {
    CodeRecord *record = record_of(code);
    if (!record || !lines_on) return NULL;
    if (UNLIKELY(threads_on_entry)) threads_on_entry();
    Thread *thread = this_thread;
    if (UNLIKELY(!thread || !thread->base)) {
        thread = thread_get();    /* asks for a new thread's name in Python: */
        record = record_of(code); /* by now another thread may have forgotten this one */
    }
    if (!thread || !record || !record->lines) return NULL;
    if (check_chain) {
        drop_stale(thread, frame, now);
        if (thread->top->frame == frame && thread->top->code == code) return thread->top;
        if (thread->top->frame == frame) drop_top(thread, now); /* memory of a frame that is gone */
    }
    return enter(thread, record, frame, code, now);
}

/* Code that has no counters is switched off. Not in a recursion too deep for the stack, nor while
   another thread opens a forked child's storage: there its next call counts again. At rest, it is
   asked again at the next start. */
static Place without_activation(PyObject *code) {
    CodeRecord *record = record_of(code);
    if (!lines_on) return PLACE_KEEP;
    if (!record || !record->lines || !storage_is_open) return PLACE_OFF;
    int may_get_a_stack = lines_stream.room != 0;
    return may_get_a_stack || (this_thread && this_thread->base) ? PLACE_KEEP : PLACE_OFF;
}

Place line_enter(void *frame, PyObject *code, uint32_t line, uint64_t now, int check_chain) {
    Activation *top = activation_for(frame, code, now, check_chain);
    if (!top) return without_activation(code);
    if (top->current == &line_nowhere && top->entered == now) top->record->block->calls++;
    return line_in_top(top, line, now);
}

Place line_resume(void *frame, PyObject *code, uint32_t line, uint64_t now, int check_chain) {
    Activation *top = activation_for(frame, code, now, check_chain);
    if (!top) return without_activation(code);
    top->record->block->resumes++;
    if (UNLIKELY(line_log_on)) line_log_begins(top, line, now);
    if (top->record->thinned) return record_may_rest(top->record) ? PLACE_OFF : PLACE_KEEP;
    top->current = top->lines + line;
    top->since = now;
    return PLACE_KEEP;
}

/* From 3.13 on, a lambda whose body is in its first line has no line event: nothing needs its exits. */
int record_has_no_lines(const CodeRecord *record) {
    if (!record->block || record->block->calls || record->block->resumes) return 0;
    return record->unseen_exits > (uint64_t)(record->thinned ? 0 : UNSEEN_EXITS);
}

static int exits_without_lines(CodeRecord *record) {
    record->unseen_exits++;
    if (!record_has_no_lines(record)) return 0;
    record_unsettle(record);
    return 1;
}

/* The frame is not on top: find it below, or it is not ours. In a recursion too deep for the stack
   none of the frames that end is there: to search all of it for each would take hours. */
Place line_exit_slow(void *frame, PyObject *code, uint64_t now) {
    Thread *thread = this_thread;
    CodeRecord *record = record_of(code);
    if (!record) return PLACE_KEEP;
    Activation *found = thread->top, *last = thread->base;
    if (thread_is_full(thread) && found - last > CHAIN_LOOK) last = found - CHAIN_LOOK;
    while (found > last && !(found->frame == frame && found->code == code)) found--;
    if (found == last)
        return exits_without_lines(record) || (record->thinned && !line_log_on) ? PLACE_OFF : PLACE_KEEP;
    while (thread->top > found) drop_top(thread, now);
    activation_pop(thread, now);
    return PLACE_KEEP;
}

/* ---- loops and thinned lines ------------------------------------------------------------------- */

static Loop *loop_at(CodeRecord *record, uint32_t line) {
    for (int i = 0; i < record->loop_count; i++)
        if (record->loops[i].line == line) return &record->loops[i];
    return NULL;
}

int record_may_rest(const CodeRecord *record) {
    if (line_log_on || !record->lines) return 0;
    for (int i = 0; i < record->loop_count; i++)
        if (record->lines[record->loops[i].line].hits & HITS_STAMPED) return 0;
    return 1;
}

static void counters_now_and_then(uint64_t now) {
    static uint64_t last;
    if (now - last < ns_to_ticks(COUNTERS_EVERY_MS * 1e6)) return;
    last = now;
    event_counters();
}

/* A loop with more than 1,000 iterations a second is not a step loop: stop stamping it, unless it is
   known to be one, or most of its iterations have passes of a framework in them. */
static void watch_rate(Loop *loop, Line *entry, uint64_t now) {
    if (loop->id == stamps_always) return;
    if (loop->stamps++ == 0) {
        loop->window_ticks = now;
        loop->window_passes = events_of_passes;
    }
    if (loop->stamps < STAMPS_A_SECOND) return;
    int trains = 2 * (events_of_passes - loop->window_passes) > STAMPS_A_SECOND;
    if (!trains && now - loop->window_ticks < ns_to_ticks(1e9)) {
        loop->off = 1;
        entry->hits &= ~HITS_STAMPED;
    }
    loop->stamps = 0;
}

static Place stamp(Activation *top, Line *before, uint32_t line, uint64_t now) {
    if (UNLIKELY(threads_on_entry)) threads_on_entry();
    Loop *loop = loop_at(top->record, line);
    if (!loop || loop->off) return PLACE_KEEP;
    uint32_t line_before = before == &line_nowhere ? 0 : (uint32_t)(before - top->lines);
    event_add(EVENT_LOOP, (Event){.name = loop->id, .start = now, .end = top->entered,
                                  .extra = line_before});
    watch_rate(loop, top->lines + line, now);
    Place place = stamp_report(loop->id, now, line_before);
    cost_slow_ticks += ticks_now() - now; /* too short to lose its core in, and too frequent to ask */
    counters_now_and_then(now);
    return place;
}

Place line_special(Activation *top, Line *before, uint32_t line, uint64_t now) {
    uint64_t hits = top->lines[line].hits;
    Place place = PLACE_KEEP;
    if (hits & HITS_STAMPED) place = stamp(top, before, line, now);
    if (!(hits & HITS_THINNED)) return place;
    top->current = &line_nowhere;
    if (place == PLACE_RAISE || top->lines[line].hits & HITS_STAMPED) return place;
    if ((hits & HITS_MASK) < lines_thin_below || line_log_on) {
        front_ticks_traced(top->code);
        return PLACE_KEEP;
    }
    record_unsettle(top->record);
    return PLACE_OFF;
}

/* From here on samples give this code's time; running lines are accounted for first. */
void record_thin(CodeRecord *record) {
    if (record->thinned || !record->block) return;
    uint64_t now = ticks_now();
    for (Thread *thread = all_threads; thread; thread = thread->next) {
        for (Activation *a = thread->base; a && a <= thread->top; a++) {
            if (a->record != record) continue;
            a->current->ticks += now - a->since;
            a->current = &line_nowhere;
        }
    }
    record->thinned = lines_any_thinned = 1;
    record->block->flags |= BLOCK_THINNED;
    Line *entries = record->lines + record->first_line;
    for (uint32_t i = 0; i < record->count; i++) entries[i].hits |= HITS_THINNED;
}

/* ---- all of them -------------------------------------------------------------------------------- */

void lines_sync(uint64_t now) {
    for (Thread *thread = all_threads; thread; thread = thread->next) {
        for (Activation *a = thread->base; a && a <= thread->top; a++) {
            if (!a->current) continue; /* the file was cut in the middle of this page */
            a->current->ticks += now - a->since;
            a->since = now;
        }
    }
}

void lines_release(uint64_t now) {
    lines_sync(now);
    for (Thread *thread = all_threads; thread; thread = thread->next)
        while (thread->base && thread->top > thread->base) drop_top(thread, now);
}

void lines_lost(char *from, char *end) {
    static CodeRecord no_record;
    static char no_frame; /* an address that is not a frame */
    Activation lost = {.frame = &no_frame, .current = &line_nowhere, .record = &no_record};
    for (Thread *thread = all_threads; thread; thread = thread->next)
        for (Activation *a = thread->base; a && a <= thread->top; a++)
            if ((char *)a + sizeof *a > from && (char *)a < end) *a = lost;
}

LineTotals lines_totals(void) {
    LineTotals totals = {0, 0};
    for (CodeRecord *record = all_records; record; record = record->next) {
        if (!record->block) continue;
        Line *entries = record->lines + record->first_line;
        for (uint32_t i = 0; i < record->count; i++) totals.hits += entries[i].hits & HITS_MASK;
        totals.exits += record->block->exits + record->block->resumes;
    }
    return totals;
}
