/* Frames of the running functions: all that we read of the interpreter's private layout.

   A version's layout is one file in layouts/. Where it is unknown, or not what a frame of our own
   shows (frames_ready), the public functions answer instead. They make an object for each frame that
   they are asked about, which costs some 100 ns, and other threads cannot be glimpsed. */
#ifndef STEPSCOPE_FRAMES_H
#define STEPSCOPE_FRAMES_H

/* Copies a pointer that another thread may take away; 0: it is gone. */
typedef int PointerCopy(void **to, const void *from);

#if PY_VERSION_HEX >= 0x030f0000 || defined(STEPSCOPE_UNKNOWN_LAYOUT)
#include "python/layouts/unknown.h"
#elif PY_VERSION_HEX >= 0x030e0000
#include "python/layouts/cpython_314.h"
#elif PY_VERSION_HEX >= 0x030d0000
#include "python/layouts/cpython_313.h"
#elif PY_VERSION_HEX >= 0x030c0000
#include "python/layouts/cpython_312.h"
#else
#include "python/layouts/cpython_311.h"
#endif

/* 1: the interpreter's public functions answer; a Frame is then a frame object. */
extern int frames_are_public;

/* Decides that, once. Returns -1 with an exception. */
int frames_ready(PyObject *module);

Frame *public_frame_of(PyThreadState *tstate);
Frame *public_previous(Frame *frame);
PyObject *public_code(Frame *frame);
int public_offset(Frame *frame);
int public_opcode(PyObject *code, int offset);

/* The running frame of a thread; NULL when it runs no Python. */
static inline Frame *frame_of(PyThreadState *tstate) {
    return UNLIKELY(frames_are_public) ? public_frame_of(tstate) : layout_frame_of(tstate);
}

static inline Frame *frame_previous(Frame *frame) {
    return UNLIKELY(frames_are_public) ? public_previous(frame) : frame->previous;
}

/* The frame's code object, borrowed; NULL for the interpreter's own entry frames. */
static inline PyObject *frame_code(Frame *frame) {
    PyObject *code = UNLIKELY(frames_are_public) ? public_code(frame) : layout_code(frame);
    return code && PyCode_Check(code) ? code : NULL;
}

/* The interpreter's own entry and clean-up frames, and functions that have not begun yet. */
static inline int frame_is_not_code(Frame *frame) {
    if (UNLIKELY(frames_are_public)) return 0;
    return layout_is_interpreters(frame) || !frame_code(frame) || layout_is_incomplete(frame);
}

/* The first instruction of a code object. */
static inline char *code_units(PyObject *code) { return ((PyCodeObject *)code)->co_code_adaptive; }

/* Byte offset of the instruction the frame is at, as PyCode_Addr2Line takes it. */
static inline int frame_offset(Frame *frame) {
    if (UNLIKELY(frames_are_public)) return public_offset(frame);
    return (int)((char *)layout_at(frame) - code_units(frame_code(frame)));
}

#endif
