/* A Python callback that may be switched on and off; NULL: none. */
#ifndef STEPSCOPE_LISTENER_H
#define STEPSCOPE_LISTENER_H

#include "python/compat.h"

/* None: no listener. */
static inline void listener_set(PyObject **listener, PyObject *new) {
    PyObject *before = *listener;
    *listener = !new || new == Py_None ? NULL : Py_NewRef(new);
    Py_XDECREF(before);
}

/* -1 with an exception set. */
static inline int listener_call(PyObject *listener, PyObject *what) {
    if (!listener) return 0;
    Py_INCREF(listener); /* it may remove itself */
    PyObject *nothing = PyObject_CallOneArg(listener, what);
    Py_DECREF(listener);
    Py_XDECREF(nothing);
    return nothing ? 0 : -1;
}

#endif
