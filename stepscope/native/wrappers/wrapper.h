/* What our replacements of functions have in common. */
#ifndef STEPSCOPE_WRAPPER_H
#define STEPSCOPE_WRAPPER_H

#include "python/compat.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function;
    PyObject *ask;  /* a Python callable for what is not decided here; or NULL */
    PyObject *more; /* a type's own; or NULL */
    PyObject *weak_references;
    int is_stopped; /* it only calls the function */
} Wrapper;

/* For a type's tp_new. */
PyObject *wrapper_new(PyTypeObject *type, PyObject *function, PyObject *ask, vectorcallfunc call);

/* Fills in the type's slots and adds it to the module. 0, or -1 with an exception set. */
int wrapper_ready(PyTypeObject *type, PyObject *module);

#endif
