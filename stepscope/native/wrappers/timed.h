/* Timed, as Python sees it. */
#ifndef STEPSCOPE_TIMED_H
#define STEPSCOPE_TIMED_H

#include "python/compat.h"

/* 0, or -1 with an exception set. */
int timed_ready(PyObject *module);

#endif
