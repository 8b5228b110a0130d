/* Forward, as Python sees it. */
#ifndef STEPSCOPE_FORWARD_H
#define STEPSCOPE_FORWARD_H

#include "python/compat.h"

/* 0, or -1 with an exception set. */
int forward_ready(PyObject *module);

#endif
