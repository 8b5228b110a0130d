/* Imports and exec: the two places of Python that we stand in for while recording. */
#ifndef STEPSCOPE_IMPORTS_H
#define STEPSCOPE_IMPORTS_H

#include "compat.h"

/* Replaces importlib's _find_and_load (imports become spans; on_import(name) after each watched
   module) and, on 3.11, builtins.exec (code with ticks runs in the place of plain code).
   -1 with an exception set. */
int imports_start(PyObject *on_name, PyObject *on_import, PyObject *watched);
int imports_stop(void);

#endif
