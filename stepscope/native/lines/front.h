/* The two front ends of the line engine, as the module sees them. */
#ifndef STEPSCOPE_FRONT_H
#define STEPSCOPE_FRONT_H

#include "python/compat.h"
#include "lines/lines.h"

/* 3.12+: a dict of event name to C callback; empty on 3.11. */
PyObject *front_monitoring_callbacks(PyObject *self, PyObject *unused);

/* 3.11: make_tick(code_id, kind, line); RuntimeError on later versions, which need none. */
PyObject *front_make_tick(PyObject *self, PyObject *args);
int front_ticks_ready(void);                                  /* types; -1 with an exception */
void front_ticks_resolve(PyObject *code, CodeRecord *record); /* ticks among its constants */
void front_ticks_rearm(void);                                 /* places that were switched off */
void front_ticks_traced(PyObject *code);                      /* a line that still counts ran */

#endif
