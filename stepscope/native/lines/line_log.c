/* The line log: capped records in events.bin, and a callback when its time is up. */
#include "lines/line_log.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "lines/front.h"
#include "lines/lines.h"
#include "python/untraced.h"

enum { ASK_AGAIN_MS = 10 }; /* after a callback that left the log on */

int line_log_on;
static uint64_t limit, logged, until; /* until: ticks; 0: no end */
static PyObject *on_end;              /* owned, or NULL */

static void write_line(uint32_t code_id, uint32_t line, uint64_t now) {
    if (logged >= limit) return;
    Event event = {.name = code_id, .start = now, .extra = line};
    if (event_add(EVENT_LINE_BEGINS, event)) logged++;
}

/* The callback may switch the log off, or on again with more time. */
static void call_on_end(void) {
    PyObject *callback = Py_NewRef(on_end);
    until = UINT64_MAX; /* not again for lines that it runs itself */
    Py_XDECREF(untraced_call(callback, NULL, 0));
    if (until == UINT64_MAX) until = ticks_now() + ns_to_ticks(ASK_AGAIN_MS * 1e6);
    Py_DECREF(callback);
}

void line_log_begins(const Activation *top, uint32_t line, uint64_t now) {
    write_line(top->record->id, line, now);
    if (UNLIKELY(until && now >= until && until != UINT64_MAX && on_end)) call_on_end();
}

/* Not if its end was not seen: then the frame may be gone. */
static int is_running(const Activation *top) {
    Frame *frame = current_frame();
    while (frame && (frame != top->frame || (void *)frame_code(frame) != top->code)) frame = frame->previous;
    return frame != NULL;
}

/* The counters do not know the line of thinned code, but its frame does. 0: not known. */
static uint32_t running_line(const Activation *top) {
    if (top->current != &line_nowhere) return (uint32_t)(top->current - top->lines);
    if (!is_running(top)) return 0;
    int line = record_line_at(top->record, top->code, frame_offset(top->frame));
    return line < 0 ? 0 : (uint32_t)line;
}

void line_log_returned(const Thread *thread, uint64_t now) {
    if (thread->top == thread->base || !thread->top->record) write_line(0, 0, now);
    else write_line(thread->top->record->id, running_line(thread->top), now);
}

PyObject *line_log_switch(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long most, ticks = 0;
    PyObject *callback = Py_None;
    if (!PyArg_ParseTuple(args, "K|KO", &most, &ticks, &callback)) return NULL;
    uint64_t had = line_log_on ? logged : 0;
    int was_on = line_log_on;
    line_log_on = most > 0;
    if (lines_on) lines_on = lines_way();
    limit = most;
    until = ticks;
    logged = was_on && line_log_on ? logged : 0;
    Py_XSETREF(on_end, callback == Py_None ? NULL : Py_NewRef(callback));
    if (line_log_on && !was_on) {
        front_ticks_rearm(); /* thinned lines are needed again */
        Thread *thread = thread_get();
        if (thread) line_log_returned(thread, ticks_now());
    }
    return PyLong_FromUnsignedLongLong(had);
}
