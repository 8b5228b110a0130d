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

static inline Frame *current_frame(void) {
#if PY_VERSION_HEX >= 0x030d0000
    return PyThreadState_GetUnchecked()->current_frame;
#else
    return _PyThreadState_UncheckedGet()->cframe->current_frame;
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

/* `gone` is called with the slot's value when the code object is freed. */
static inline Py_ssize_t code_extra_index_with(freefunc gone) {
#if PY_VERSION_HEX >= 0x030c0000
    return PyUnstable_Eval_RequestCodeExtraIndex(gone);
#else
    return _PyEval_RequestCodeExtraIndex(gone);
#endif
}

static inline Py_ssize_t code_extra_index(void) { return code_extra_index_with(NULL); }

static inline void *code_extra_get(PyObject *code, Py_ssize_t index) {
    void *extra = NULL;
#if PY_VERSION_HEX >= 0x030c0000
    PyUnstable_Code_GetExtra(code, index, &extra);
#else
    _PyCode_GetExtra(code, index, &extra);
#endif
    return extra;
}

/* The same without a call: 2 ns. The layout is the interpreter's own since 3.6. */
static inline void *code_extra_peek(PyObject *code, Py_ssize_t index) {
    const struct { Py_ssize_t size; void *slots[1]; } *extra = ((PyCodeObject *)code)->co_extra;
    return LIKELY(extra && index >= 0 && extra->size > index) ? extra->slots[index] : NULL;
}

/* -1 with an exception set on failure. */
static inline int code_extra_set(PyObject *code, Py_ssize_t index, void *extra) {
#if PY_VERSION_HEX >= 0x030c0000
    return PyUnstable_Code_SetExtra(code, index, extra);
#else
    return _PyCode_SetExtra(code, index, extra);
#endif
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
