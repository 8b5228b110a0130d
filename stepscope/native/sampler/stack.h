/* A thread's stack as the sampler takes it: code objects and where in them it is. */
#ifndef STEPSCOPE_STACK_H
#define STEPSCOPE_STACK_H

#include "python/compat.h"
#include "sampler/glimpse.h"

enum {
    STACK_INNER = 64,  /* frames kept of a deeper stack: where it is, */
    STACK_OUTER = 448, /* and how it got there */
    STACK_AT_MOST = STACK_INNER + STACK_OUTER + 1,
};

typedef struct {
    PyObject *code; /* borrowed; NULL: frames were left out here */
    int offset;     /* as PyCode_Addr2Line takes it */
} Spot;

/* The stack of a thread, outermost first; returns how many of STACK_AT_MOST spots it has. With a
   glimpse, as it was then: frames that have ended since are taken from there. Holds the GIL; runs
   no Python. */
int stack_walk(PyThreadState *tstate, const Glimpse *glimpse, Spot *spots);

#endif
