/* Another tool's evaluation function, which counts the frames that it evaluates. */
#include "python/compat.h"

static long frames;
static _PyFrameEvalFunction previous;

static PyObject *evaluate(PyThreadState *tstate, Frame *frame, int throwing) {
    frames++;
    return previous(tstate, frame, throwing);
}

void set_evaluator(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

int evaluator_is_set(void) {
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) == evaluate;
}

long evaluated_frames(void) { return frames; }
