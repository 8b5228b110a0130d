/* Version differences of CPython 3.11, 3.12 and 3.13, all in one place. */
#ifndef STEPSCOPE_COMPAT_H
#define STEPSCOPE_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

/* The frame chain has no public interface that does not allocate. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define Py_BUILD_CORE 1
#include "internal/pycore_frame.h"
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

#include <stdint.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NEVER_INLINE __attribute__((noinline))

#define HAS_MONITORING (PY_VERSION_HEX >= 0x030c0000)

typedef struct _PyInterpreterFrame Frame;

/* The running frame of a thread; NULL when it runs no Python. */
static inline Frame *frame_of(PyThreadState *tstate) {
#if PY_VERSION_HEX >= 0x030d0000
    return tstate->current_frame;
#else
    return tstate->cframe ? tstate->cframe->current_frame : NULL;
#endif
}

/* NULL: this thread does not hold a GIL. */
static inline PyThreadState *thread_state(void) {
#if PY_VERSION_HEX >= 0x030d0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

static inline Frame *current_frame(void) {
#if PY_VERSION_HEX >= 0x030d0000
    return thread_state()->current_frame;
#else
    return thread_state()->cframe->current_frame;
#endif
}

/* The frame's code object, borrowed; NULL for the interpreter's own entry frames. */
static inline PyObject *frame_code(Frame *frame) {
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *code = frame->f_executable;
#else
    PyObject *code = (PyObject *)frame->f_code;
#endif
    return code && PyCode_Check(code) ? code : NULL;
}

/* The interpreter's own entry and clean-up frames, and functions that have not begun yet. */
static inline int frame_is_not_code(Frame *frame) {
#if PY_VERSION_HEX >= 0x030c0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK) return 1;
#endif
    return !frame_code(frame) || _PyFrame_IsIncomplete(frame);
}

/* Byte offset of the instruction the frame is at, as PyCode_Addr2Line takes it. */
static inline int frame_offset(Frame *frame) {
#if PY_VERSION_HEX >= 0x030d0000
    _Py_CODEUNIT *at = frame->instr_ptr;
#else
    _Py_CODEUNIT *at = frame->prev_instr;
#endif
    _Py_CODEUNIT *first = (_Py_CODEUNIT *)((PyCodeObject *)frame_code(frame))->co_code_adaptive;
    return (int)((char *)at - (char *)first);
}

/* A line number that the interpreter passes as an int; it is never negative. */
static inline long line_number(PyObject *number) {
#if PY_VERSION_HEX >= 0x030c0000
    if (LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)number)))
        return (long)PyUnstable_Long_CompactValue((PyLongObject *)number);
#endif
    return PyLong_AsLong(number);
}

#endif
