/* The budget: how many events each code object makes, and which ones to thin out. */
#include "lines/budget.h"
#include "clock/clock.h"
#include "interpreter/run_delay.h"
#include "lines/lines.h"
#include "lines/settled.h"

#define EXACT_FOR_NS 2e9          /* the first 2 s are always exact */
#define LEAST_OWN_SHARE 0.01      /* of the time: delays are known to some milliseconds only */

static uint64_t began, looked, waited_ns;

void budget_begin(uint64_t now) {
    began = looked = now;
    waited_ns = run_delay_ns();
}

/* The record's events since the last check. An exit counts as the line events that it costs. */
static void count_events(CodeRecord *record, double exit_weight) {
    Line *entries = record->lines + record->first_line;
    uint64_t exits = record->block->exits + record->block->resumes;
    uint64_t events = (uint64_t)(exit_weight * (double)exits);
    record->most_hits = 0;
    for (uint32_t i = 0; i < record->count; i++) {
        uint64_t hits = entries[i].hits & HITS_MASK;
        events += hits;
        if (hits > record->most_hits) record->most_hits = hits;
    }
    record->fresh_events = events - record->seen_events;
    record->seen_events = events;
}

static int may_be_thinned(const CodeRecord *record) {
    return record->block && !record->exact && !record->thinned;
}

static uint64_t count_all(double exit_weight) {
    uint64_t total = 0;
    for (CodeRecord *record = all_records; record; record = record->next) {
        if (!may_be_thinned(record)) continue;
        count_events(record, exit_weight);
        total += record->fresh_events;
    }
    return total;
}

static CodeRecord *busiest_record(void) {
    CodeRecord *busiest = NULL;
    for (CodeRecord *record = all_records; record; record = record->next)
        if (may_be_thinned(record) && record->most_hits >= lines_thin_below &&
            (!busiest || record->fresh_events > busiest->fresh_events))
            busiest = record;
    return busiest;
}

static void thin_all(void) {
    for (CodeRecord *record = all_records; record; record = record->next)
        if (may_be_thinned(record)) record_thin(record);
}

/* Since the last check, without the time in which the main thread had no core: on a busy machine few
   events take much of what little time the script gets. */
static double own_time_ns(uint64_t now) {
    double elapsed_ns = (double)(now - looked) / clock_ticks_per_ns;
    uint64_t before = waited_ns;
    waited_ns = run_delay_ns();
    double without_core_ns = waited_ns > before ? (double)(waited_ns - before) : 0.0;
    double least_ns = LEAST_OWN_SHARE * elapsed_ns;
    return elapsed_ns - without_core_ns > least_ns ? elapsed_ns - without_core_ns : least_ns;
}

/* Steps: count each code object's new events; while they cost more than the budget allows, thin
   out the busiest one whose lines have had their exact share. Codes with few events stay. */
void budget_keep(uint64_t now, double share, double event_cost_ns, double exit_cost_ns) {
    double allowed = share * own_time_ns(now) / event_cost_ns;
    double total = (double)count_all(exit_cost_ns / event_cost_ns);
    looked = now;
    lines_settle();
    if (now - began < ns_to_ticks(EXACT_FOR_NS)) return;
    if (now - began > ns_to_ticks(FULL_RECORDING_S * 1e9)) {
        thin_all();
        return;
    }
    while (total > allowed) {
        CodeRecord *record = busiest_record();
        if (!record) return;
        total -= (double)record->fresh_events;
        record_thin(record);
    }
}

/* ---- samples of thinned code ---------------------------------------------------------------------- */

enum { SEEN_AT_MOST = 64 };

/* A line counts once per thread, however often recursion shows it. */
static int seen_before(Line **seen, int *count, Line *entry) {
    for (int i = 0; i < *count; i++)
        if (seen[i] == entry) return 1;
    if (*count < SEEN_AT_MOST) seen[(*count)++] = entry;
    return 0;
}

static void sample_thread(PyThreadState *tstate, uint64_t elapsed) {
    Line *seen[SEEN_AT_MOST];
    int count = 0;
    for (Frame *frame = frame_of(tstate); frame; frame = frame_previous(frame)) {
        PyObject *code = frame_code(frame);
        CodeRecord *record = code ? record_of(code) : NULL;
        if (!record || !record->thinned || !record->lines) continue;
        int line = record_line_at(record, code, frame_offset(frame));
        if (line < 0) continue;
        Line *entry = record->lines + line;
        if (!seen_before(seen, &count, entry)) entry->sampled += elapsed;
    }
}

void sample_thinned(PyThreadState *ours, uint64_t elapsed) {
    if (!lines_any_thinned) return;
    PyInterpreterState *interpreter = PyThreadState_GetInterpreter(ours);
    for (PyThreadState *tstate = PyInterpreterState_ThreadHead(interpreter); tstate;
         tstate = PyThreadState_Next(tstate))
        if (tstate != ours) sample_thread(tstate, elapsed);
}
