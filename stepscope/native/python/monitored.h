/* Shared by the front ends of 3.12 and later: callbacks for sys.monitoring, and what they get
   about C functions. */
#ifndef STEPSCOPE_MONITORED_H
#define STEPSCOPE_MONITORED_H

#include "python/compat.h"

#if HAS_MONITORING

typedef struct {
    const char *event;
    vectorcallfunc function;
} Monitored; /* a table ends with a NULL event */

/* A dict of event name to callable; NULL with an exception set. */
PyObject *monitored_callables(const Monitored *table);

/* A dict of event name to callable for what counts as a call in cProfile: starts and resumes of
   frames, their ends, and C functions called by Python. NULL with an exception set. */
PyObject *monitored_calls(vectorcallfunc enter, vectorcallfunc leave, vectorcallfunc call,
                          vectorcallfunc c_leave);

extern PyObject *monitored_missing; /* sys.monitoring.MISSING, once monitored_calls was called */

/* The definition of a C function that is about to be called; NULL: something else. The same
   functions count as in cProfile. */
static inline PyMethodDef *monitored_method(PyObject *callable, PyObject *self) {
    PyTypeObject *type = Py_TYPE(callable);
    if (LIKELY(type == &PyFunction_Type)) return NULL;
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) /* neither can be subclassed */
        return ((PyCFunctionObject *)callable)->m_ml;
    if (type == &PyMethodDescr_Type && self != monitored_missing)
        return ((PyMethodDescrObject *)callable)->d_method;
    return NULL;
}

#endif
#endif
