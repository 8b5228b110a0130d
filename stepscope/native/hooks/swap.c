/* 3.11: the main script's code is run by the interpreter itself, past builtins.exec. An audit event
   announces it; for just that frame we replace the evaluation function and run the code with
   ticks instead. The announced frame is never linked, so tracebacks and sys._getframe see one
   module frame, as always. */
#include "hooks/hooks.h"

#if !HAS_MONITORING

static PyObject *armed_code, *armed_replacement; /* owned */
static _PyFrameEvalFunction previous; /* NULL: ours is not in place, nor below another tool's */

static PyObject *evaluate(PyThreadState *tstate, Frame *frame, int throwing);

static int is_on_top(PyInterpreterState *interpreter) {
    return _PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate;
}

/* Another tool's function that was set meanwhile stays, and goes on calling ours, if it does. */
static void give_back(PyInterpreterState *interpreter) {
    if (!is_on_top(interpreter)) return;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, previous);
    previous = NULL;
}

static PyObject *evaluate(PyThreadState *tstate, Frame *frame, int throwing) {
    _PyFrameEvalFunction next = previous;
    if (!armed_code) give_back(tstate->interp); /* the other tool's has gone, and put ours back */
    if ((PyObject *)frame->f_code != armed_code || throwing) return next(tstate, frame, throwing);
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
    if (previous) return; /* below another tool's: on top of it, the two would call each other */
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

void swap_disarm(void) {
    if (!armed_code) return;
    give_back(PyInterpreterState_Get());
    Py_CLEAR(armed_code);
    Py_CLEAR(armed_replacement);
}

#else

void swap_arm(PyObject *code, PyObject *replacement) { (void)code, (void)replacement; }
void swap_disarm(void) {}

#endif
