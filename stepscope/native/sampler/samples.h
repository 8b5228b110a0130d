/* Samples: stacks as paths in a tree of nodes, and how long each was seen, in samples.bin. */
#ifndef STEPSCOPE_SAMPLES_H
#define STEPSCOPE_SAMPLES_H

#include "python/compat.h"
#include "storage/format.h"

/* A thread as the samples know it. Owns nothing. */
typedef struct {
    uint64_t id;   /* of its Python state; never given twice */
    PyThreadState *state; /* may be gone since it was last seen */
    uint64_t owed; /* ticks that passed while it could not be sampled */
    Sample *last;  /* its latest record, which grows while the stack stays the same, or NULL */
    uint32_t thread; /* id of kind "thread"; 0: not named yet */
    unsigned long native; /* the kernel's number */
} Sampled;

/* There is a new file (or, in a forked child, the parent's is closed): forget all nodes. */
void samples_begin(void);

/* 0: there is no file, or it is full. */
int samples_can_grow(void);

/* The node of `function` at `line` below `parent` (0: outermost), made when first seen.
   0: no space. */
uint32_t samples_node(uint32_t parent, uint32_t function, uint32_t line);

/* The thread was seen in `node` from `start` for `weight` ticks; `kind` says what it did there. */
void samples_add(Sampled *thread, enum SamplesKind kind, uint32_t node, uint64_t start, uint64_t weight);

/* For tests: a sample of thread 0 to 7, its stack given as ((function, line), ...), outermost
   first, and its kind. False: no space. */
PyObject *samples_feed(PyObject *self, PyObject *args);

#endif
