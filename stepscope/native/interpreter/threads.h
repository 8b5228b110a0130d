/* What the engine knows of each thread: its stack of activations, which lives in lines.bin. */
#ifndef STEPSCOPE_THREADS_H
#define STEPSCOPE_THREADS_H

#include "python/compat.h"
#include "storage/format.h"

typedef struct Thread {
    Activation *top;   /* the innermost activation; base[0] is a sentinel that matches no frame */
    Activation *base;
    Activation *end;
    Block *block;      /* in lines.bin; its entries are base[0..] */
    CallEntry *call_top;  /* the innermost call, or NULL; call_base[0] is the thread's root */
    CallEntry *call_base;
    CallEntry *call_end;
    Block *call_block;    /* in calls.bin; its entries are call_base[0..] */
    CallNode *call_root;
    uint32_t id;
    int asking;        /* its id is being looked up */
    int gone;          /* the system's thread has ended; reaped by the next new thread */
    struct Thread *next;
} Thread;

extern __thread Thread *this_thread __attribute__((tls_model("initial-exec")));
extern Thread *all_threads;

/* What those above want to be called for; NULL: nothing. */
extern void (*threads_on_entry)(void);       /* a recorded function is entered; clears itself */
extern void (*threads_on_end)(Thread *);     /* a thread with a stack of calls has ended */
extern int (*threads_open_after_fork)(void); /* in a forked child: opens new storage; -1: it cannot */

extern Line line_nowhere; /* `current` of an activation whose time is not counted */

/* The calling thread's, made at its first event (and a forked child's storage with it);
   NULL when there is no space or recording is off. Holds the GIL. */
Thread *thread_get(void);

/* The next activation of a thread, its stack grown when needed; NULL when there is no space. */
Activation *thread_push(Thread *thread);

/* The next push has to grow the stack, or has tried to. */
static inline int thread_is_full(const Thread *thread) { return thread->top + 1 >= thread->end; }

/* Who gives threads their ids; NULL: nobody, then they are 0. */
void threads_ask(PyObject *on_thread);

/* The id of another thread, by Python's number and the kernel's, and whether Python started it;
   0 also when it has no name yet. */
uint32_t thread_other_id(unsigned long ident, unsigned long native, int is_pythons);

/* The storage changed: every thread asks for its id and an empty stack at its next event. */
void threads_rebind(void);

/* The calling thread is the heartbeat: its events have thread 0, and it has no lines. */
void thread_is_ours(void);

/* In a forked child: none of the parent's threads exists here. */
void threads_forget(void);

#endif
