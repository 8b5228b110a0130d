/* Imports, exec and os._exit: the functions of Python that we replace while recording. */
#ifndef STEPSCOPE_IMPORTS_H
#define STEPSCOPE_IMPORTS_H

#include "python/compat.h"

typedef struct {
    PyObject *on_name;   /* text -> id */
    PyObject *on_import; /* (name), after a watched module was loaded */
    PyObject *on_exit;   /* (), before os._exit ends the process */
    PyObject *watched;   /* frozenset of module names */
} ImportHooks;

/* Replaces importlib's _find_and_load (imports become spans), os._exit and, on 3.11, builtins.exec
   (code with ticks runs instead of plain code). Borrows. -1 with an exception set. */
int imports_start(ImportHooks hooks);
int imports_stop(void);

#endif
