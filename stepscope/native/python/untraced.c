/* Calling a Python function of ours in the middle of the script. */
#include "python/untraced.h"

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

PyObject *untraced_call(PyObject *function, PyObject *const *args, size_t count) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = untraced_raising(function, args, count);
    if (!result) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return result;
}

uint32_t untraced_number(PyObject *function, PyObject *const *args, size_t count) {
    PyObject *result = untraced_call(function, args, count);
    uint32_t number = result && PyLong_Check(result) ? (uint32_t)PyLong_AsUnsignedLongMask(result) : 0;
    Py_XDECREF(result);
    return number;
}
