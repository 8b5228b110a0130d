/* The budget: code whose line events cost too much is thinned out; samples give its time. */
#ifndef STEPSCOPE_BUDGET_H
#define STEPSCOPE_BUDGET_H

#include "python/compat.h"

#define FULL_RECORDING_S 600.0 /* after 10 minutes everything thins out */

void budget_begin(uint64_t now);
void budget_keep(uint64_t now, double share, double event_cost_ns, double exit_cost_ns);

/* Adds `elapsed` ticks to the running lines of thinned code, on all threads but ours. */
void sample_thinned(PyThreadState *ours, uint64_t elapsed);

#endif
