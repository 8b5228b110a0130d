/* Glimpses: what a thread was doing at one moment, read without the GIL.

   The interpreter gives up the GIL at jumps back and at the beginning of functions only. Who waits
   for it sees a short function never where it spends its time, and its caller or the next function
   in its place. So the sampler looks before it asks for the GIL, and checks with the GIL. */
#ifndef STEPSCOPE_GLIMPSE_H
#define STEPSCOPE_GLIMPSE_H

#include "python/compat.h"

enum { GLIMPSE_DEPTH = 64 }; /* frames of a thread that are looked at */

/* Addresses as they were read: nothing here may be followed unless it was checked. */
typedef struct {
    void *frame, *code, *at;
} GlimpseFrame;

typedef struct {
    PyThreadState *state;
    int count;
    GlimpseFrame frames[GLIMPSE_DEPTH]; /* innermost first */
} Glimpse;

/* Looks at a thread that may be running, or gone. No GIL. Its frames; 0: nothing could be read. */
int glimpse_take(Glimpse *glimpse, PyThreadState *state);

#endif
