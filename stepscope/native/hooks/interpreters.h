/* Other interpreters of the process: they are not recorded, and run as they do without us. */
#ifndef STEPSCOPE_INTERPRETERS_H
#define STEPSCOPE_INTERPRETERS_H

#include "python/compat.h"

/* A module of that name was loaded; Python's own for interpreters gets our stand-ins. -1 with an
   exception set. */
int interpreters_loaded(PyObject *name);

int interpreters_start(void); /* if it is loaded already; -1 with an exception set */
int interpreters_stop(void);  /* the same */

#endif
