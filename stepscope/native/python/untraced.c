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

static PyObject *find_handler; /* owned: exception -> the part of its traceback that is a handler's, or None */

PyObject *untraced_find_handlers_with(PyObject *self, PyObject *function) {
    (void)self;
    Py_XSETREF(find_handler, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}

static int is_main_thread(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

/* A new reference, or NULL: no handler raised it. */
static PyObject *traceback_of_handler(PyObject *exception) {
    if (!find_handler || !is_main_thread()) return NULL;
    PyObject *found = untraced_raising(find_handler, &exception, 1);
    if (!found) PyErr_Clear();
    if (found == Py_None) Py_CLEAR(found);
    return found;
}

/* A pending call: the interpreter makes it in the script's code, as it calls signal handlers. */
static int raise_in_script(void *exception) {
    PyObject *type = Py_NewRef((PyObject *)Py_TYPE(exception));
    PyErr_Restore(type, exception, PyException_GetTraceback(exception));
    return -1;
}

/* Without our own frames in its traceback. On another thread, where no handler runs, a tool may have
   raised it, which can only give its type. */
static void raise_soon(PyObject *exception, PyObject *traceback) {
    if (PyException_SetTraceback(exception, traceback ? traceback : Py_None)) PyErr_Clear();
    PyObject *type = (PyObject *)Py_TYPE(exception);
    if (!is_main_thread()) PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
    else if (Py_AddPendingCall(raise_in_script, Py_NewRef(exception))) Py_DECREF(exception);
}

static void drop_or_hand_on(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback && PyException_SetTraceback(value, traceback)) PyErr_Clear();
    PyObject *handlers = value ? traceback_of_handler(value) : NULL;
    int is_error = PyErr_GivenExceptionMatches(value, PyExc_Exception);
    if (value && (handlers || !is_error)) raise_soon(value, handlers);
    Py_XDECREF(handlers);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
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
