/* Ranges: what a framework opens and closes around its own work, and Edge, which watches them. */
#ifndef STEPSCOPE_RANGES_H
#define STEPSCOPE_RANGES_H

#include "python/compat.h"
#include "interpreter/events.h"

/* A span that begins and ends where this thread's innermost range does, if it is the first one in it.
   Its offset, 0: not recorded. */
uint64_t range_span(Event span);

/* 0, or -1 with an exception set. */
int ranges_ready(PyObject *module);

#endif
