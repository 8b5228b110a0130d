/* The sampler: which stack every thread is in, a few times in a hundred ms. */
#ifndef STEPSCOPE_SAMPLER_H
#define STEPSCOPE_SAMPLER_H

#include "python/compat.h"

/* The storage changed: all that was seen before is forgotten. */
void sampler_begin(void);

/* The time up to now was not watched, and no sample tells of it. */
void sampler_go_on(uint64_t now);

/* Before the GIL is asked for: what the threads of the last look are doing now. */
void sampler_glance(void);

/* Adds one sample a thread but `ours`, each of the time since the one before. Holds the GIL, and
   may let go of it while it asks for names. */
void sampler_take(PyThreadState *ours, uint64_t now);

/* What a look at all threads takes lately, in ticks: who pays decides how often. */
uint64_t sampler_cost(void);

#endif
