/* The line log: when each line began, while an operator window is open. */
#ifndef STEPSCOPE_LINE_LOG_H
#define STEPSCOPE_LINE_LOG_H

#include "python/compat.h"
#include "storage/format.h"
#include "interpreter/threads.h"

extern int line_log_on; /* read at every line: keep it a plain variable */

/* A line of this activation begins, or continues after a call has returned. */
void line_log_begins(const Activation *top, uint32_t line, uint64_t now);
/* The innermost activation has ended: its caller's line continues. */
void line_log_returned(const Thread *thread, uint64_t now);

/* lines_log(limit, until=0, on_end=None) -> how many entries the log had; see _core.pyi. */
PyObject *line_log_switch(PyObject *self, PyObject *args);

#endif
