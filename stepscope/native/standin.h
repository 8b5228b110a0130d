/* Standing in: a C function of ours in the place of one of Python's own, while recording. */
#ifndef STEPSCOPE_STANDIN_H
#define STEPSCOPE_STANDIN_H

#include "compat.h"

/* `original` and `ours` stay for good: a script may have kept ours and calls it at any time. */
typedef struct {
    PyObject *owner;    /* module, owned */
    const char *name;
    PyObject *original; /* owned */
    PyObject *ours;     /* owned */
} StandIn;

/* Puts `method` in the place of the module's function of that name. `hidden`: the function it
   replaces is Python's, so that profilers must not take ours for one more call of a C function.
   -1 with an exception set. */
int standin_place(StandIn *place, PyObject *module, PyMethodDef *method, int hidden);

/* Only if it is still ours: somebody may have put his own over it. -1 with an exception set. */
int standin_remove(StandIn *place);

#endif
