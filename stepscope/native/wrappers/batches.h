/* What a batch reveals without computing anything. */
#ifndef STEPSCOPE_BATCHES_H
#define STEPSCOPE_BATCHES_H

#include "python/compat.h"

/* The length of its first part, along the dimension that its labels share; -1: not known. -2 with an
   exception set if something other than an error was raised, such as an interrupt. */
long long batch_samples(PyObject *batch);

/* 0, or -1 with an exception set. */
int batches_ready(PyObject *module);

#endif
