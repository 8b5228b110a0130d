/* The sampler: which stack every thread is in, a few times in a hundred ms. */
#ifndef STEPSCOPE_SAMPLER_H
#define STEPSCOPE_SAMPLER_H

#include "python/compat.h"

/* The storage changed: forget everything seen before. */
void sampler_begin(void);

/* The time up to now was not sampled. */
void sampler_go_on(uint64_t now);

/* Before the GIL is asked for: what the threads of the last look are doing now. */
void sampler_glance(void);

/* Adds one sample for each thread but `ours`, each for the time since the one before. Holds the
   GIL, and may release it while it asks for names. */
void sampler_take(PyThreadState *ours, uint64_t now);

/* How long a look at all threads takes lately, in ticks: the caller decides how often to look. */
uint64_t sampler_cost(void);

#endif
