/* Code objects that are known to be alive: what an address that was read may be taken for. */
#ifndef STEPSCOPE_LIVE_CODE_H
#define STEPSCOPE_LIVE_CODE_H

#include "python/compat.h"

/* This code object is alive; we are told when it goes. Holds no reference. */
void live_code_add(PyObject *code);

/* Whether a code object that is alive lies at this address, which is not followed. 0 also for one
   that we have never seen. */
int live_code_at(const void *address);

#endif
