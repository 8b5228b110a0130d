/* Frames of CPython 3.13. */
#ifndef STEPSCOPE_LAYOUT_H
#define STEPSCOPE_LAYOUT_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define Py_BUILD_CORE 1
#include "internal/pycore_frame.h"
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

#define LAYOUT_IS_KNOWN 1

typedef struct _PyInterpreterFrame Frame;

static inline Frame *layout_frame_of(PyThreadState *tstate) { return tstate->current_frame; }

/* Of a thread that may be running: what it shows is copied. */
static inline void *layout_frame_from_afar(PyThreadState *tstate, PointerCopy *copy) {
    void *frame;
    return copy(&frame, &tstate->current_frame) ? frame : NULL;
}

static inline void *layout_code(const Frame *frame) { return frame->f_executable; }

static inline void *layout_at(const Frame *frame) { return frame->instr_ptr; }

static inline int layout_is_interpreters(const Frame *frame) {
    return frame->owner == FRAME_OWNED_BY_CSTACK;
}

static inline int layout_is_incomplete(Frame *frame) { return _PyFrame_IsIncomplete(frame); }

/* Of an instruction that a line event has replaced. */
static inline int layout_replaced_opcode(PyCodeObject *code, int unit) {
    return code->_co_monitoring && code->_co_monitoring->lines
               ? code->_co_monitoring->lines[unit].original_opcode
               : 0;
}

/* Tools that listen to the lines of a function, a bit each. */
static inline int layout_line_listeners(PyCodeObject *code) {
    _PyCoMonitoringData *monitoring = code->_co_monitoring;
    return monitoring ? monitoring->active_monitors.tools[PY_MONITORING_EVENT_LINE] : 0;
}

/* For when nobody listens to the line event at an instruction any more. */
static inline void layout_forget_listeners(PyCodeObject *code, int unit) {
    if (code->_co_monitoring->line_tools) code->_co_monitoring->line_tools[unit] = 0;
}

#endif
