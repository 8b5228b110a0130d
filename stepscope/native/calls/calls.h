/* The call engine: how often and for how long every function ran, by the path of its callers.

   One tree per thread, in calls.bin. The front ends call the two events below. The fast
   path is inline: one clock read, no hashing, no allocation. */
#ifndef STEPSCOPE_CALLS_H
#define STEPSCOPE_CALLS_H

#include "python/compat.h"
#include "clock/clock.h"
#include "storage/format.h"
#include "interpreter/functions.h"
#include "interpreter/threads.h"

enum { CALLS_NOW = 0 }; /* instead of ticks: read the clock */

extern int calls_on; /* between calls_start and calls_end */

/* The calling thread with its stack of calls, made at its first event; NULL: do not count. May run
   Python. */
Thread *calls_thread(void);
void call_enter_new(PyObject *code); /* a function that has no name yet, or a thread without a stack */

/* Slow paths. */
CallNode *call_child(CallNode *parent, uint32_t function); /* never NULL */
int call_stack_grow(Thread *thread);                       /* -1: no space */
void call_missed(Thread *thread, uint32_t function); /* a call that ended without a beginning */
void call_forgive(Thread *thread, uint64_t ticks); /* our own time: not charged to any call */
int call_leave_below(Thread *thread, const void *key, uint64_t now);

void calls_end(uint64_t now); /* account for what is open and forget it */
void calls_rebind(void);      /* after a new storage was opened */
void calls_thread_release(Thread *thread, uint64_t now);
void calls_thread_ended(Thread *thread);
uint64_t calls_counted(void); /* how many were entered so far */

/* Addresses between the two were emptied: calls that were open there count nowhere. Called in a
   signal handler. */
void calls_lost(char *from, char *end);

/* ---- what Python sees: the engine (calls.c) and the front ends (call_front.c, call_profile.c) ------ */

PyObject *calls_read(PyObject *self, PyObject *unused);
PyObject *calls_feed(PyObject *self, PyObject *args);
PyObject *calls_start(PyObject *self, PyObject *unused);
PyObject *calls_stop(PyObject *self, PyObject *unused);
PyObject *calls_attach(PyObject *self, PyObject *on_taken);
PyObject *calls_detach(PyObject *self, PyObject *unused);
PyObject *calls_callbacks(PyObject *self, PyObject *unused);
void calls_profiler_set(void); /* a profile function is set on this thread */

#if !HAS_MONITORING /* call_profile.c: the C profile function of threads */
int calls_profile_is_ours(PyThreadState *tstate);
void calls_set_profile(PyThreadState *tstate, Py_tracefunc function);
void calls_set_profile_of_all(Py_tracefunc from, Py_tracefunc to);
#endif

int call_setprofile_place(void);  /* -1 with an exception set */
int call_setprofile_remove(void); /* the same */
void call_setprofile_seen(void);

/* ---- the events --------------------------------------------------------------------------------------- */

extern CallNode call_no_room; /* stands for everything that calls.bin has no room for */

/* The node of an open call. Where the file was cut in the middle of a page, it is gone. */
static inline CallNode *call_node(const CallEntry *entry) {
    return LIKELY(entry->node != NULL) ? entry->node : &call_no_room;
}

static inline int call_is_ours(const Thread *thread) { return call_node(thread->call_top)->function == 0; }

static inline void call_enter(Thread *thread, uint32_t function, const void *key, uint64_t now) {
    if (UNLIKELY(thread->call_top + 1 >= thread->call_end) && call_stack_grow(thread)) return;
    CallEntry *entry = thread->call_top + 1;
    CallNode *parent = call_node(entry - 1), *node = parent->recent;
    if (!LIKELY(node && node->function == function)) node = call_child(parent, function);
    node->calls++;
    entry->key = key;
    entry->start = now == CALLS_NOW ? ticks_now() : now; /* last: our work is the caller's time */
    __atomic_store_n(&entry->node, node, __ATOMIC_RELEASE);
    thread->call_top = entry;
}

/* A frame begins or resumes. */
static inline void call_enter_code(PyObject *code) {
    uint32_t function;
    Thread *thread = this_thread;
    if (LIKELY(thread && thread->call_top && function_look_up(code, &function)))
        call_enter(thread, function, code, CALLS_NOW);
    else call_enter_new(code);
}

/* 0: its start was not reported. */
static inline int call_leave(Thread *thread, const void *key, uint64_t now) {
    CallEntry *top = thread->call_top;
    if (UNLIKELY(top->key != key)) return call_leave_below(thread, key, now);
    top->node->ticks += now - top->start;
    top->node = NULL;
    thread->call_top = top - 1;
    return 1;
}

#endif
