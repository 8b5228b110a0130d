/* Lines that are off for good: what is left of their events in the code goes, too. The budget asks
   for it in its own time, as the interpreter has answered DISABLE by then. */
#include "lines/settled.h"
#include "python/line_events.h"

static int any_unsettled;

void record_unsettle(CodeRecord *record) { record->unsettled = any_unsettled = 1; }

#if HAS_MONITORING

static int is_off(const CodeRecord *record, PyObject *code, int line) {
    if (record_has_no_lines(record) && line == ((PyCodeObject *)code)->co_firstlineno) return 1;
    uint64_t hits = record->lines[line].hits;
    return hits & HITS_THINNED && !(hits & HITS_STAMPED) && (hits & HITS_MASK) >= lines_thin_below;
}

static void settle(CodeRecord *record, PyObject *code) {
    for (int unit = 0; unit < (int)Py_SIZE(code); unit++) {
        int line = record_line_at(record, code, unit * (int)sizeof(uint16_t));
        if (line >= 0 && is_off(record, code, line)) line_event_remove(code, unit);
    }
    line_events_join_pairs(code);
}

/* Code that was compiled again has the same record. */
void lines_settle(void) {
    if (!any_unsettled || line_log_on || !lines_on) return;
    for (size_t i = 0; i <= code_notes_mask; i++) {
        CodeRecord *record = code_notes[i].record;
        if (record && record->unsettled && record->lines) settle(record, code_notes[i].code);
    }
    for (CodeRecord *record = all_records; record; record = record->next) record->unsettled = 0;
    any_unsettled = 0;
}

#else

void lines_settle(void) { any_unsettled = 0; }

#endif

PyObject *lines_settle_now(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    lines_settle();
    Py_RETURN_NONE;
}
