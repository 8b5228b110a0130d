/* Standing in: a C function of ours in the place of one of Python's own, while recording. */
#ifndef STEPSCOPE_STANDIN_H
#define STEPSCOPE_STANDIN_H

#include "python/compat.h"

/* `original` and `ours` stay for good: a script may have kept ours and calls it at any time. */
typedef struct {
    PyObject *owner;    /* module, owned */
    const char *name;
    PyObject *original; /* owned */
    PyObject *ours;     /* owned */
} StandIn;

/* Puts `method` in the place of the module's function of that name. `hidden`: the function it
   replaces is Python's, so that profilers must not take ours for one more call of a C function;
   `method` takes fast arguments with keywords then. -1 with an exception set. */
int standin_place(StandIn *place, PyObject *module, PyMethodDef *method, int hidden);

/* The function we stand in for, without a level of recursion of its own where that can be had. */
PyObject *standin_call_original(StandIn *place, PyObject *const *args, Py_ssize_t count,
                                PyObject *names);

/* Only if it is still ours: somebody may have put his own over it. -1 with an exception set. */
int standin_remove(StandIn *place);

#endif
