/* Stand-ins: our C function in place of one of Python's own, while recording. */
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

/* Replaces the module's function of that name by `method`. `hidden`: the original is a Python
   function, so profilers must not see ours as an additional call of a C function; `method` takes
   fast arguments with keywords then. -1 with an exception set. */
int standin_place(StandIn *place, PyObject *module, PyMethodDef *method, int hidden);

/* Calls the original, without an extra level of recursion where possible. */
PyObject *standin_call_original(StandIn *place, PyObject *const *args, Py_ssize_t count,
                                PyObject *names);

/* Only if it is still ours: other code may have replaced it. -1 with an exception set. */
int standin_remove(StandIn *place);

#endif
