/* Front end of the line engine on 3.12 and later: callbacks for sys.monitoring. */
#include "lines/front.h"
#include "lines/lines.h"
#include "python/monitored.h"
#include "python/opcodes.h"

#include <opcode.h>

#if HAS_MONITORING

static PyObject *disable; /* sys.monitoring.DISABLE, owned */

static inline PyObject *answer(Place place) {
    if (LIKELY(place == PLACE_KEEP)) Py_RETURN_NONE;
    if (place == PLACE_OFF) return Py_NewRef(disable);
    return NULL;
}

/* ---- exceptions thrown into `yield from` and `await` ------------------------------------------------

   When such an exception comes back from below, 3.13 reports the line again if the RESUME it was
   suspended at has never run, or is instrumented. Ours always are: to count like a tool that only
   listens to lines, we remember which ones have run. */

static int exception_table_number(const uint8_t **at) {
    int number = **at & 63;
    while (*(*at)++ & 64) number = number << 6 | (**at & 63);
    return number;
}

/* The RESUME after the yield whose handler begins at `handler`, in code units; -1: none. */
static int resume_of_handler(PyCodeObject *code, int handler) {
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(code->co_exceptiontable);
    const uint8_t *end = at + PyBytes_GET_SIZE(code->co_exceptiontable);
    while (at < end) {
        int start = exception_table_number(&at), length = exception_table_number(&at);
        int target = exception_table_number(&at);
        exception_table_number(&at); /* stack depth */
        if (target == handler) return start + length;
    }
    return -1;
}

static int is_no_new_line(Frame *frame, PyCodeObject *code) {
    if (PY_VERSION_HEX < 0x030d0000) return 0;
    if (!(code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))) return 0;
    int offset = frame_offset(frame), unit = offset / (int)sizeof(_Py_CODEUNIT);
    if (offset < 0 || unit >= Py_SIZE(code)) return 0;
    if (opcode_at((PyObject *)code, offset) != CLEANUP_THROW) return 0;
    CodeRecord *record = record_of((PyObject *)code);
    int resume = resume_of_handler(code, unit);
    return record && record->resumed && resume >= 0 && resume < Py_SIZE(code) && record->resumed[resume];
}

/* ---- the callbacks ----------------------------------------------------------------------------------- */

static NEVER_INLINE PyObject *on_line_slowly(PyObject *const *args, Frame *frame) {
    uint64_t now = ticks_now();
    uint32_t line = (uint32_t)line_number(args[1]);
    Thread *thread = this_thread;
    if (LIKELY(thread && thread->top && thread->top->frame == (void *)frame &&
               thread->top->code == (void *)args[0]))
        return answer(line_in_top(thread->top, line, now));
    if (is_no_new_line(frame, (PyCodeObject *)args[0]))
        return answer(line_resume(frame, args[0], line, now, 1));
    return answer(line_enter(frame, args[0], line, now, 1));
}

static PyObject *on_line(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    Frame *frame = current_frame();
    Activation *top = line_short_top(frame, args[0]);
    PyLongObject *line = (PyLongObject *)args[1];
    if (UNLIKELY(!top || !PyUnstable_Long_IsCompact(line) ||
                 line_in_short_top(top, (uint32_t)PyUnstable_Long_CompactValue(line), ticks_of_counter())))
        return on_line_slowly(args, frame);
    Py_RETURN_NONE;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    return answer(exit_event(current_frame(), args[0], ticks_now()));
}

/* A global event, which cannot be disabled: 30 ns for every frame an exception passes. */
static PyObject *on_unwind(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    exit_event(current_frame(), args[0], ticks_now());
    Py_RETURN_NONE;
}

static PyObject *on_resume(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    uint64_t now = ticks_now();
    CodeRecord *record = record_of(args[0]);
    if (!record) return answer(PLACE_OFF);
    int offset = (int)line_number(args[1]), line = record_line_at(record, args[0], offset);
    if (line < 0) Py_RETURN_NONE;
    if (record->resumed) record->resumed[offset / (int)sizeof(_Py_CODEUNIT)] = 1;
    return answer(line_resume(current_frame(), args[0], (uint32_t)line, now, 1));
}

static int find_disable(void) {
    if (disable) return 0;
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (!monitoring) {
        PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
        return -1;
    }
    disable = PyObject_GetAttrString(monitoring, "DISABLE");
    return disable ? 0 : -1;
}

PyObject *front_monitoring_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    const Monitored table[] = {
        {"LINE", on_line},        {"PY_RETURN", on_leave},  {"PY_YIELD", on_leave},
        {"PY_UNWIND", on_unwind}, {"PY_RESUME", on_resume}, {NULL, NULL},
    };
    return find_disable() ? NULL : monitored_callables(table);
}

#else

PyObject *front_monitoring_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyDict_New();
}

#endif
