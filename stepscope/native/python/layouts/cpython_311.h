/* Frames of CPython 3.11. */
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

static inline Frame *layout_frame_of(PyThreadState *tstate) {
    return tstate->cframe ? tstate->cframe->current_frame : NULL;
}

/* Of a thread that may be running: what it shows is copied. */
static inline void *layout_frame_from_afar(PyThreadState *tstate, PointerCopy *copy) {
    void *cframe, *frame;
    if (!copy(&cframe, &tstate->cframe) || !cframe) return NULL;
    return copy(&frame, &((_PyCFrame *)cframe)->current_frame) ? frame : NULL;
}

static inline void *layout_code(const Frame *frame) { return frame->f_code; }

static inline void *layout_at(const Frame *frame) { return frame->prev_instr; }

/* Entry frames came with 3.12. */
static inline int layout_is_interpreters(const Frame *frame) { return (void)frame, 0; }

static inline int layout_is_incomplete(Frame *frame) { return _PyFrame_IsIncomplete(frame); }

#endif
