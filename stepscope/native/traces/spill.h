/* NumPy's large arrays in files on disk, beyond a limit in memory
   (docs/decisions/0007-large-arrays-lie-on-disk.md). */
#ifndef STEPSCOPE_SPILL_H
#define STEPSCOPE_SPILL_H

#include "python/compat.h"

/* (folder, bytes in memory at most, bytes of a large array) -> whether that folder and this NumPy are
   fit for it: then it holds for the arrays that this context and thread make from now on. */
PyObject *spill_to(PyObject *self, PyObject *args);

/* () -> (bytes in memory, bytes on disk), of large arrays. */
PyObject *spill_sizes(PyObject *self, PyObject *unused);

/* Arrays made from now on in this context are NumPy's own again. */
PyObject *spill_stop(PyObject *self, PyObject *unused);

#endif
