/* How long the main thread was ready to run and had to wait for a core. */
#ifndef STEPSCOPE_RUN_DELAY_H
#define STEPSCOPE_RUN_DELAY_H

#include <stdint.h>

/* So far, in ns; 0: not known. */
uint64_t run_delay_ns(void);
void run_delay_after_fork(void);

/* Around something rare: what `run_delay_since` is given, 0 for not asking. It is asked on the main
   thread only, and seldom enough to cost nothing. */
uint64_t run_delay_begin(uint64_t now);
uint64_t run_delay_since(uint64_t begun); /* ns */

#endif
