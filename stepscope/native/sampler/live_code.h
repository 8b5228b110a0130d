/* Code objects that are known to be alive: an address that was read is checked against them. */
#ifndef STEPSCOPE_LIVE_CODE_H
#define STEPSCOPE_LIVE_CODE_H

#include "python/compat.h"

/* This code object is alive; it is removed when it is freed. Holds no reference. */
void live_code_add(PyObject *code);

/* Whether there is a live code object at this address, which is not followed. 0 also for one that
   we have never seen. */
int live_code_at(const void *address);

#endif
