/* An evaluation function that sends SIGALRM when a chosen call of a Python function begins or ends. */
#include "python/compat.h"

#include <signal.h>
#include <string.h>

static _PyFrameEvalFunction previous;
static long left; /* beginnings and ends until the signal; 0: none is sent */
static const char *script; /* its own functions do not count */
static unsigned long thread; /* the one that counts */
static PyObject *place; /* owned: the code that was about to run */

static int is_counted(PyObject *code) {
    const char *file = PyCode_Check(code) ? PyUnicode_AsUTF8(((PyCodeObject *)code)->co_filename) : script;
    return PyThread_get_thread_ident() == thread && strcmp(file, script) != 0;
}

/* The interpreter calls the handler at its next check: the first instruction of the function that
   begins, or what follows the call that has ended. */
static void pass(PyObject *code) {
    if (!left || !is_counted(code) || --left) return;
    Py_XSETREF(place, Py_NewRef(code));
    raise(SIGALRM);
}

static PyObject *evaluate(PyThreadState *tstate, Frame *frame, int throwing) {
    PyObject *code = Py_NewRef((PyObject *)layout_code(frame));
    pass(code);
    PyObject *result = previous(tstate, frame, throwing);
    pass(code);
    Py_DECREF(code);
    return result;
}

void set_evaluator(const char *path) {
    script = strdup(path);
    thread = PyThread_get_thread_ident();
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

static int do_nothing(void *unused) { return 0; }

static void fill_queue(void) {
    while (!Py_AddPendingCall(do_nothing, NULL)) continue;
}

static int call_with_full_queue(void *function) {
    fill_queue();
    PyObject *result = PyObject_CallNoArgs(function);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* The interpreter makes no pending call while it makes one: the queue stays as full as it is. */
void call_soon_with_full_queue(PyObject *function) {
    Py_AddPendingCall(call_with_full_queue, Py_NewRef(function));
    fill_queue();
}

void alarm_at(long number) { left = number; }

/* None: there were fewer. */
PyObject *alarmed_in(void) {
    PyObject *found = left || !place ? Py_NewRef(Py_None) : Py_NewRef(place);
    left = 0;
    Py_CLEAR(place);
    return found;
}
