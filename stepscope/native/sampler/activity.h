/* What a thread is doing at a moment, as the kernel knows it. */
#ifndef STEPSCOPE_ACTIVITY_H
#define STEPSCOPE_ACTIVITY_H

#include <stdint.h>

typedef enum {
    ACTIVITY_UNKNOWN,
    ACTIVITY_RUNS,   /* on a core, or ready for one */
    ACTIVITY_WAITS,  /* in a system call: for time, a file, the network */
    ACTIVITY_AWAITS, /* for another thread: one that computes for it, or one that has a lock */
} Activity;

/* Of a thread of this process, by the kernel's number. Needs no GIL; used by the heartbeat only. */
Activity activity_of(unsigned long native);

/* CPU time of a thread up to now. */
uint64_t activity_cpu_ns(unsigned long native);

/* Whether a thread that awaits others does so while they compute: it still awaits them, and in
   that moment the process used its cores. */
int activity_is_awaiting_work(unsigned long native);

/* Forgets all threads: their files are closed. */
void activities_forget(void);

#endif
