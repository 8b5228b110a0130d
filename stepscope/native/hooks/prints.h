/* print: its time as a phase, if there is a framework that gives phases a meaning. */
#ifndef STEPSCOPE_PRINTS_H
#define STEPSCOPE_PRINTS_H

#include "python/compat.h"

int prints_start(uint32_t name); /* id of the spans' name; -1 with an exception set */
int prints_stop(void);

#endif
