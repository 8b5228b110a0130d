/* Giving way in sys.monitoring: our tool id looks free to other tools. */
#ifndef STEPSCOPE_TOOLS_H
#define STEPSCOPE_TOOLS_H

#include "python/compat.h"

/* tool_lend(tool_id, give_way): `give_way()` is called when another tool wants this id.
   tool_take_back(tool_id) */
PyObject *tools_lend(PyObject *self, PyObject *args);
PyObject *tools_take_back(PyObject *self, PyObject *tool_id);

#endif
