/* Ranges: what a framework opens and closes around its own work, and Edge, which sees it. */
#ifndef STEPSCOPE_RANGES_H
#define STEPSCOPE_RANGES_H

#include "compat.h"

typedef struct {
    uint64_t opened, span; /* the first span inside, which takes on the range's beginning and end */
} Range;

/* This thread's innermost, if it has no span yet, or NULL. */
Range *range_to_fill(void);

/* 0, or -1 with an exception set. */
int ranges_ready(PyObject *module);

#endif
