/* What a framework reports before and after each step of an optimizer. */
#ifndef STEPSCOPE_OPTIMIZERS_H
#define STEPSCOPE_OPTIMIZERS_H

#include "python/compat.h"

/* 0, or -1 with an exception set. */
int optimizers_ready(PyObject *module);

#endif
