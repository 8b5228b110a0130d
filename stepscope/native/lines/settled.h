/* Lines that are off for good: nothing of their events is left in the code. */
#ifndef STEPSCOPE_SETTLED_H
#define STEPSCOPE_SETTLED_H

#include "lines/lines.h"

/* One of its lines is off, or its exits are. */
void record_unsettle(CodeRecord *record);

/* Settles all code since the last time. Hold the GIL, outside of any event. */
void lines_settle(void);
PyObject *lines_settle_now(PyObject *self, PyObject *unused); /* for tests */

#endif
