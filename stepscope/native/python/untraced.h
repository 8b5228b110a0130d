/* Calling a Python function of ours in the middle of the script. */
#ifndef STEPSCOPE_UNTRACED_H
#define STEPSCOPE_UNTRACED_H

#include "python/compat.h"

/* How many such calls this thread is in: what they cause is not the script's. */
extern __thread int untraced_depth __attribute__((tls_model("initial-exec")));

/* The script's tracer does not see it, and the script's exception state stays untouched; what the
   function raises is dropped. Steals nothing; a new reference or NULL. */
PyObject *untraced_call(PyObject *function, PyObject *const *args, size_t count);

/* The result as a number; 0 for anything else. */
uint32_t untraced_number(PyObject *function, PyObject *const *args, size_t count);

/* The same without that care: what it raises reaches the script. */
PyObject *untraced_raising(PyObject *function, PyObject *const *args, size_t count);

#endif
