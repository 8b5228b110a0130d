/* Counters of the process: its CPU time, bytes and memory, and what recording has cost so far. */
#ifndef STEPSCOPE_COUNTERS_H
#define STEPSCOPE_COUNTERS_H

#include <stdint.h>

/* CPU, IO, MEMORY and COST records with the current values. */
void event_counters(void);
void counters_after_fork(void);

#endif
