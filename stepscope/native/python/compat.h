/* Version differences of CPython, but for the layout of its frames, which frames.h has. */
#ifndef STEPSCOPE_COMPAT_H
#define STEPSCOPE_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <stddef.h>
#include <stdint.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NEVER_INLINE __attribute__((noinline))

#define HAS_MONITORING (PY_VERSION_HEX >= 0x030c0000)

#include "python/frames.h"

/* NULL: this thread does not hold a GIL. */
static inline PyThreadState *thread_state(void) {
#if PY_VERSION_HEX >= 0x030d0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

static inline Frame *current_frame(void) { return frame_of(thread_state()); }

/* A line number that the interpreter passes as an int; it is never negative. */
static inline long line_number(PyObject *number) {
#if PY_VERSION_HEX >= 0x030c0000
    if (LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)number)))
        return (long)PyUnstable_Long_CompactValue((PyLongObject *)number);
#endif
    return PyLong_AsLong(number);
}

#endif
