/* 3.11: the main script's code is run by the interpreter itself, past builtins.exec. An audit event
   announces it; for just that frame we replace the evaluation function and run the code with
   ticks instead. The announced frame is never linked, so tracebacks and sys._getframe see one
   module frame, as always. */
#include "hooks/hooks.h"

#if !HAS_MONITORING

static PyObject *armed_code, *armed_replacement; /* owned */
static _PyFrameEvalFunction previous;

static PyObject *evaluate(PyThreadState *tstate, Frame *frame, int throwing) {
    if ((PyObject *)frame->f_code != armed_code || throwing) return previous(tstate, frame, throwing);
    PyObject *replacement = Py_NewRef(armed_replacement);
    swap_disarm();
    PyObject *result = PyEval_EvalCode(replacement, frame->f_globals, frame->f_locals);
    Py_DECREF(replacement);
    return result;
}

void swap_arm(PyObject *code, PyObject *replacement) {
    swap_disarm();
    armed_code = Py_NewRef(code);
    armed_replacement = Py_NewRef(replacement);
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

void swap_disarm(void) {
    if (!armed_code) return;
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), previous);
    Py_CLEAR(armed_code);
    Py_CLEAR(armed_replacement);
}

#else

void swap_arm(PyObject *code, PyObject *replacement) { (void)code, (void)replacement; }
void swap_disarm(void) {}

#endif
