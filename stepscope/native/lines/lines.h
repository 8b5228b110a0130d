/* The line engine: hits and inclusive time of every line, as line_profiler counts them.

   Both front ends (monitoring.c on 3.12+, ticks.c on 3.11) end in the three events below. The fast
   path is inline: one clock read, no hashing, no allocation. */
#ifndef STEPSCOPE_LINES_H
#define STEPSCOPE_LINES_H

#include "python/code_notes.h"
#include "python/compat.h"
#include "clock/clock.h"
#include "storage/format.h"
#include "lines/line_log.h"
#include "interpreter/threads.h"

/* A `for` or `while` whose header is stamped at each iteration. */
typedef struct {
    uint32_t line;
    uint32_t id;
    uint32_t stamps;         /* in the current window of 1,000 */
    uint64_t window_ticks;   /* when that window began */
    uint64_t window_passes;  /* how many passes of a framework there had been by then */
    int off;                 /* more than 1,000 iterations a second */
} Loop;

/* A code object that is recorded. Lives as long as the process. */
typedef struct CodeRecord {
    PyObject *code;       /* owned */
    uint32_t id, first_line, count;
    Block *block;         /* in lines.bin, or NULL while there is no storage */
    Line *lines;          /* entry of line 0 in that block */
    Line *carried;        /* owned: counts of earlier storages, so that reads never go back */
    uint64_t seen_events;  /* events at the budget's last check */
    uint64_t fresh_events; /* since the check before */
    uint64_t most_hits;    /* of its busiest line */
    int32_t *line_at;     /* owned: line of each code unit, made when first needed */
    uint8_t *resumed;     /* owned: whether the RESUME at each code unit has run; made with it */
    Loop *loops;          /* owned */
    int loop_count;
    int exact, thinned;
    uint64_t unseen_exits; /* while none of its lines has begun */
    int unsettled;        /* a place was switched off; see settled.h */
    struct CodeRecord *next;
} CodeRecord;

typedef struct { uint64_t hits, exits; } LineTotals;

/* Between lines_start and lines_stop; LINES_SHORTLY: with nothing to do but count and read the CPU's
   counter, which is the inlined part of a line event. */
enum { LINES_OFF = 0, LINES_ON = 1, LINES_SHORTLY = 2 };
extern int lines_on;
int lines_way(void); /* how lines are to be counted now, if they are */

extern int lines_any_thinned;
extern CodeRecord *all_records;
extern uint64_t lines_thin_below; /* a line counts at least this many hits before it is thinned */

/* What a front end does with the place that fired. */
typedef enum { PLACE_KEEP = 0, PLACE_OFF = 1, PLACE_RAISE = -1 } Place;

static inline CodeRecord *record_of(PyObject *code) {
    CodeNotes *notes = code_notes_of(code);
    return notes ? notes->record : NULL;
}
int record_line_at(CodeRecord *record, PyObject *code, int byte_offset);

/* Slow paths. `frame` need not be a real one when `check_chain` is 0 (tests). */
Place line_enter(void *frame, PyObject *code, uint32_t line, uint64_t now, int check_chain);
Place line_special(Activation *activation, Line *before, uint32_t line, uint64_t now);
Place line_exit_slow(void *frame, PyObject *code, uint64_t now);
Place line_resume(void *frame, PyObject *code, uint32_t line, uint64_t now, int check_chain);
void activation_pop(Thread *thread, uint64_t now);

int record_make(PyObject *code, uint32_t id, uint32_t first_line, uint32_t count,
                PyObject *loops, int exact);
int record_alias(PyObject *code, CodeRecord *record); /* -1 with an exception set */
void record_forget(PyObject *code);
void record_thin(CodeRecord *record);
int record_has_no_lines(const CodeRecord *record);
int record_may_rest(const CodeRecord *record); /* thinned: its events are not needed any more */

void lines_carry(void);    /* before the storage is closed */
void lines_rebind(void);   /* after a new one was opened */
void lines_sync(uint64_t now);
void lines_release(uint64_t now); /* account for what is open and forget it */
LineTotals lines_totals(void);

/* Addresses between the two were emptied: activations there match no frame any more. Called in a
   signal handler. */
void lines_lost(char *from, char *end);

/* A line begins in the activation on top. */
static inline Place line_in_top(Activation *top, uint32_t line, uint64_t now) {
    Line *entry = top->lines + line, *before = top->current;
    before->ticks += now - top->since;
    uint64_t hits = ++entry->hits;
    top->current = entry;
    top->since = now;
    if (UNLIKELY(line_log_on)) line_log_begins(top, line, now);
    if (UNLIKELY(hits > HITS_MASK)) return line_special(top, before, line, now);
    return PLACE_KEEP;
}

/* The activation on top if it is this one's and its lines are counted the short way, else NULL. */
static inline Activation *line_short_top(void *frame, void *code) {
    Thread *thread = this_thread;
    if (UNLIKELY(lines_on != LINES_SHORTLY || !thread)) return NULL;
    Activation *top = thread->top;
    return LIKELY(top && top->frame == frame && top->code == code) ? top : NULL;
}

/* The same as line_in_top, or 1, and nothing is done, if the line is special. It calls nothing, so
   that front ends save no registers; their slow paths come last. */
static inline int line_in_short_top(Activation *top, uint32_t line, uint64_t now) {
    Line *entry = top->lines + line, *before = top->current;
    uint64_t hits = entry->hits + 1;
    if (UNLIKELY(hits > HITS_MASK)) return 1;
    before->ticks += now - top->since;
    entry->hits = hits;
    top->current = entry;
    top->since = now;
    return 0;
}

static inline Place line_event(void *frame, PyObject *code, uint32_t line, uint64_t now) {
    Thread *thread = this_thread;
    if (LIKELY(thread != NULL)) {
        Activation *top = thread->top;
        if (LIKELY(top && top->frame == frame && top->code == code)) return line_in_top(top, line, now);
    }
    return line_enter(frame, code, line, now, 1);
}

/* An activation ends: return, yield or unwinding. */
static inline Place exit_event(void *frame, PyObject *code, uint64_t now) {
    Thread *thread = this_thread;
    if (UNLIKELY(!thread || !thread->top)) return PLACE_KEEP;
    if (LIKELY(thread->top->frame == frame && thread->top->code == code)) {
        CodeRecord *record = thread->top->record;
        activation_pop(thread, now);
        return UNLIKELY(record->thinned) && record_may_rest(record) ? PLACE_OFF : PLACE_KEEP;
    }
    return line_exit_slow(frame, code, now);
}

#endif
