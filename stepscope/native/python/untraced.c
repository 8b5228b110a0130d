/* Calling a Python function of ours in the middle of the script. */
#define _GNU_SOURCE
#include "python/untraced.h"

#include <sys/syscall.h>
#include <unistd.h>

__thread int untraced_depth __attribute__((tls_model("initial-exec")));

PyObject *untraced_raising(PyObject *function, PyObject *const *args, size_t count) {
    PyThreadState *tstate = PyThreadState_Get();
    PyThreadState_EnterTracing(tstate); /* the user's own tracer must not see us */
    untraced_depth++;
    PyObject *result = PyObject_Vectorcall(function, args, count, NULL);
    untraced_depth--;
    PyThreadState_LeaveTracing(tstate);
    return result;
}

/* ---- exceptions of the script's signal handlers, which Python calls wherever the main thread is ------- */

enum { SEARCHES_AT_ONCE = 4 }; /* a handler may raise while we look whether one raised */

static PyObject *find_handler; /* owned: exception -> what a handler raised of it, or None */
static int searches; /* on the main thread only */

PyObject *untraced_find_handlers_with(PyObject *self, PyObject *function) {
    (void)self;
    Py_XSETREF(find_handler, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}

static int is_main_thread(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

static void drop_or_hand_on(void);

/* A new reference, or NULL: no handler raised it. */
static PyObject *raised_by_handler(PyObject *exception) {
    PyObject *found = NULL, *finder = find_handler;
    if (!finder || !is_main_thread() || searches == SEARCHES_AT_ONCE) return NULL;
    Py_INCREF(finder);
    searches++;
    for (int attempt = 0; !found && attempt < SEARCHES_AT_ONCE; attempt++)
        if (!(found = untraced_raising(finder, &exception, 1))) drop_or_hand_on();
    searches--;
    Py_DECREF(finder);
    if (found == Py_None) Py_CLEAR(found);
    return found;
}

/* A pending call: the interpreter makes it in the script's code, as it calls signal handlers. */
static int raise_in_script(void *exception) {
    PyObject *type = Py_NewRef((PyObject *)Py_TYPE(exception));
    PyErr_Restore(type, exception, PyException_GetTraceback(exception));
    return -1;
}

/* On another thread, where no handler runs, a tool may have raised it, which can only give its type.
   So do we where the queue of pending calls is full. */
static void raise_soon(PyObject *exception) {
    if (is_main_thread() && !Py_AddPendingCall(raise_in_script, Py_NewRef(exception))) return;
    if (is_main_thread()) Py_DECREF(exception);
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), (PyObject *)Py_TYPE(exception));
}

/* A new reference with its traceback in it; nothing is set any more. */
static PyObject *take_exception(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback && PyException_SetTraceback(value, traceback)) PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

/* An interrupt has our own frames in its traceback: they are left out. */
static void drop_or_hand_on(void) {
    PyObject *value = take_exception();
    if (!value) return;
    PyObject *raised = raised_by_handler(value);
    if (!raised && !PyErr_GivenExceptionMatches(value, PyExc_Exception)) {
        if (PyException_SetTraceback(value, Py_None)) PyErr_Clear();
        raised = Py_NewRef(value);
    }
    if (raised) raise_soon(raised);
    Py_XDECREF(raised);
    Py_DECREF(value);
}

int untraced_drop_error(void) {
    PyObject *value = take_exception();
    if (!value) return 0;
    PyObject *traceback = PyException_GetTraceback(value), *raised = raised_by_handler(value);
    int stays = raised || !PyErr_GivenExceptionMatches(value, PyExc_Exception);
    if (stays) PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(value)), Py_NewRef(value), Py_XNewRef(traceback));
    Py_XDECREF(raised);
    Py_XDECREF(traceback);
    Py_DECREF(value);
    return stays ? -1 : 0;
}

PyObject *untraced_call(PyObject *function, PyObject *const *args, size_t count) {
    if (!function) return NULL; /* recording ended on another thread a moment ago */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = untraced_raising(function, args, count);
    if (!result) drop_or_hand_on();
    PyErr_Restore(type, value, traceback);
    return result;
}

uint32_t untraced_number(PyObject *function, PyObject *const *args, size_t count) {
    PyObject *result = untraced_call(function, args, count);
    uint32_t number = result && PyLong_Check(result) ? (uint32_t)PyLong_AsUnsignedLongMask(result) : 0;
    Py_XDECREF(result);
    return number;
}
