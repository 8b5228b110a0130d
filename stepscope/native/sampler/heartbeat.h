/* The heartbeat: a native thread that takes the GIL every few ms. */
#ifndef STEPSCOPE_HEARTBEAT_H
#define STEPSCOPE_HEARTBEAT_H

#include "python/compat.h"

typedef struct {
    int interval_ms;
    double budget_share;
    double event_cost_ns, exit_cost_ns;
    int thin;            /* 0: --exact */
    double full_s;       /* after that many seconds it beats a tenth as often */
    PyObject *on_second; /* borrowed; called with the GIL about once a second, or NULL */
} HeartbeatOptions;

/* -1 with an exception set. */
int heartbeat_start(HeartbeatOptions options);
void heartbeat_stop(void);

/* Around a fork: with a second thread alive, Python 3.12 and later warn of forking at all, 3.13
   after its at-fork handlers. So the thread ends before; it is restarted when the main thread
   continues (soon), or when any thread enters the next recorded function. */
void heartbeat_pause(void);
void heartbeat_resume(void);
void heartbeat_resume_soon(void);

#endif
