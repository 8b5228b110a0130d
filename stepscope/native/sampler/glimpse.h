/* Glimpses: what a thread was doing at one moment, read without the GIL.

   The interpreter releases the GIL only at backward jumps and at the start of functions. A sampler
   that waits for the GIL never sees a short function where it spends its time, but its caller or
   the next function. So ours looks before it asks for the GIL, and checks with the GIL. */
#ifndef STEPSCOPE_GLIMPSE_H
#define STEPSCOPE_GLIMPSE_H

#include "python/compat.h"
#include "sampler/activity.h"

enum { GLIMPSE_DEPTH = 64 }; /* frames read per thread */

/* Addresses as read: check one before following it. */
typedef struct {
    void *frame, *code, *at;
} GlimpseFrame;

typedef struct {
    PyThreadState *state;
    unsigned long native; /* the kernel's number of it */
    Activity activity;
    int stays;       /* moments later it was still at the same instruction, */
    int had_core;    /* and had not been kept from executing more */
    int awaits_work; /* other threads of the process compute while it awaits them */
    int count;
    GlimpseFrame frames[GLIMPSE_DEPTH]; /* innermost first */
} Glimpse;

/* Reads a thread that may be running, or gone, without the GIL. Returns the number of frames;
   0: nothing could be read. */
int glimpse_take(Glimpse *glimpse, PyThreadState *state, unsigned long native);

#endif
