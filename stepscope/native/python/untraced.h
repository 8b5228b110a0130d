/* Calling a Python function of ours in the middle of the script. */
#ifndef STEPSCOPE_UNTRACED_H
#define STEPSCOPE_UNTRACED_H

#include "python/compat.h"

/* How many such calls this thread is in: what they cause is not the script's. */
extern __thread int untraced_depth __attribute__((tls_model("initial-exec")));

/* The script's tracer does not see it, and the script's exception state stays untouched; errors that
   the function raises are dropped. What a signal handler of the script raises meanwhile, and what is
   not an error (an interrupt), is raised in the script a moment later. Steals nothing; a new
   reference or NULL. NULL for no function. */
PyObject *untraced_call(PyObject *function, PyObject *const *args, size_t count);

/* Drops the exception that is set; -1: it stays, as a signal handler raised it or it is an interrupt. */
int untraced_drop_error(void);

/* For Python: a function that returns what a handler raised of an exception, or None. */
PyObject *untraced_find_handlers_with(PyObject *self, PyObject *function);

/* The result as a number; 0 for anything else. */
uint32_t untraced_number(PyObject *function, PyObject *const *args, size_t count);

/* The same without that care: what it raises reaches the script. */
PyObject *untraced_raising(PyObject *function, PyObject *const *args, size_t count);

#endif
