/* The heartbeat: samples thinned code, keeps the budget, ties the clocks together. No signal is
   used: one would interrupt the user's own system calls. */
#define _GNU_SOURCE
#include "sampler/heartbeat.h"
#include "lines/budget.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "interpreter/rests.h"
#include "lines/counters.h"
#include "python/untraced.h"
#include "lines/lines.h"
#include "sampler/activity.h"
#include "sampler/sampler.h"
#include "storage/address_space.h"
#include "storage/bus_guard.h"
#include "storage/storage.h"
#include "interpreter/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUDGET_EVERY_MS = 100, CLOCK_EVERY_MS = 2000, SECOND_MS = 1000 };
enum { STACK_BYTES = 1 << 20, ARENA_BYTES = 64 << 20 }; /* glibc's malloc reserves that for a thread */
enum { SLOWER_TIMES = 10, PAUSE_TIMES = 100 }; /* at most 1 % of the time for looking at stacks */

/* The state of one thread. A thread that ended the recording itself frees its own. */
typedef struct {
    HeartbeatOptions options;
    PyInterpreterState *interpreter;
    PyThreadState *tstate; /* made by the thread itself: only then 3.11 knows its owner */
    pthread_t thread;
    pid_t id;  /* the kernel's */
    uint64_t budget_at, clock_at, second_at, sampled_at; /* when each was last due; 0: the first beat */
    int stopping;
    int alone; /* nothing joins it: it frees this itself */
} Beat;

static Beat *beat;                /* the thread that runs, or NULL */
static int ending;                /* one is being joined: the next must not share its buffers */
static HeartbeatOptions options;  /* of the last start; on_second is owned */
static uint64_t began;            /* the last start */
static pthread_mutex_t lock;
static pthread_cond_t wake; /* waits for times of CLOCK_MONOTONIC */

/* Fewer beats once recording has been full for its time, or when looking at stacks takes long. */
static double interval_ns(const Beat *self) {
    double wanted_ns = self->options.interval_ms * 1e6;
    if (ticks_now() - began > ns_to_ticks(self->options.full_s * 1e9)) wanted_ns *= SLOWER_TIMES;
    double least_ns = PAUSE_TIMES * (double)sampler_cost() / clock_ticks_per_ns;
    return wanted_ns > least_ns ? wanted_ns : least_ns;
}

/* Half to one and a half intervals: in step with a loop of 10 ms it would always see the same line. */
static long uneven_interval_ns(const Beat *self) {
    static uint32_t state = 2463534242u; /* xorshift: any start but 0 */
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (long)(interval_ns(self) * (0.5 + (double)state / UINT32_MAX));
}

static int is_stopping(const Beat *self) { return __atomic_load_n(&self->stopping, __ATOMIC_RELAXED); }

/* Waits for about the interval, or for the end. 1: stop. */
static int wait_interval(Beat *self) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += uneven_interval_ns(self);
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&lock);
    while (!is_stopping(self) && pthread_cond_timedwait(&wake, &lock, &until) == 0) continue;
    int stop = is_stopping(self);
    pthread_mutex_unlock(&lock);
    return stop;
}

static int due(uint64_t *last, uint64_t now, int every_ms) {
    if (now - *last < ns_to_ticks(every_ms * 1e6)) return 0;
    *last = now;
    return 1;
}

static void call_on_second(PyObject *on_second) {
    Py_INCREF(on_second); /* it may end the recording, and with it the last reference */
    Py_XDECREF(untraced_call(on_second, NULL, 0));
    Py_DECREF(on_second);
}

/* Seldom, when the file has little room left; a sample weighs all the time since the one before. */
static int sample_is_due(Beat *self, uint64_t now) {
    double rarer = rests_factor(&samples_stream);
    if (rarer > 1.0 && (double)(now - self->sampled_at) < rarer * ns_to_ticks(interval_ns(self))) return 0;
    self->sampled_at = now;
    return 1;
}

static void one_beat(Beat *self, uint64_t now, uint64_t since_last) {
    sample_thinned(self->tstate, since_last);
    if (sample_is_due(self, now)) sampler_take(self->tstate, now);
    if (due(&self->budget_at, now, BUDGET_EVERY_MS) && self->options.thin)
        budget_keep(now, self->options.budget_share, self->options.event_cost_ns,
                    self->options.exit_cost_ns);
    if (due(&self->clock_at, now, CLOCK_EVERY_MS)) {
        event_clock();
        event_counters();
    }
    if (due(&self->second_at, now, SECOND_MS) && options.on_second) call_on_second(options.on_second);
}

static void *beat_on(void *argument) {
    Beat *self = argument;
    self->id = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), "stepscope");
    thread_is_ours();
    if (!(self->tstate = PyThreadState_New(self->interpreter))) return NULL;
    uint64_t last = ticks_now();
    sampler_go_on(last);
    while (!wait_interval(self)) {
        bus_guard_keep(); /* without the GIL: a thread may hold it while it faults */
        sampler_glance();
        PyEval_RestoreThread(self->tstate);
        uint64_t now = ticks_now(), began = slow_path_begin();
        if (storage_is_open && !is_stopping(self)) one_beat(self, now, now - last);
        last = now;
        slow_path_end(began);
        PyEval_SaveThread();
    }
    activities_forget();
    PyEval_RestoreThread(self->tstate);
    PyThreadState_Clear(self->tstate);
    PyThreadState_DeleteCurrent();
    if (self->alone) PyMem_RawFree(self);
    return NULL;
}

/* With every signal blocked: the user's signals must reach the user's threads. A SIGBUS in one of our
   files is our own, and would end the process if it were blocked. */
static int start_thread(Beat *self) {
    sigset_t all, before;
    pthread_attr_t small;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    if (pthread_attr_init(&small)) return -1;
    pthread_attr_setstacksize(&small, STACK_BYTES); /* refused: the usual size, 8 MB of addresses */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&self->thread, &small, beat_on, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    return failed;
}

static void make_lock(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The thread exists in the parent only. Another thread may have held the lock when this one forked,
   and the condition still counts the parent's heartbeat among those that wait: waking it, a child
   would wait for that one for ever. */
static void forget_after_fork(void) {
    beat = NULL;
    ending = 0;
    threads_on_entry = NULL;
    make_lock();
}

static int prepare(void) {
    static int prepared;
    if (prepared) return 0;
    make_lock();
    prepared = pthread_atfork(NULL, NULL, forget_after_fork) == 0;
    return prepared ? 0 : -1;
}

static int begin_thread(void) {
    if (!space_is_allowed(STACK_BYTES + ARENA_BYTES, 0)) return -1;
    Beat *new = PyMem_RawCalloc(1, sizeof *new);
    if (!new) return -1;
    new->options = options;
    new->interpreter = PyInterpreterState_Get();
    if (!start_thread(new)) {
        beat = new;
        return 0;
    }
    PyMem_RawFree(new);
    return -1;
}

/* pthread_join returns a moment before the kernel has let go of the thread, and Python counts the
   kernel's threads when it forks. */
static void join_wholly(Beat *last) {
    pthread_join(last->thread, NULL);
    for (int i = 0; i < 10000 && !syscall(SYS_tgkill, getpid(), last->id, 0); i++) sched_yield();
}

static void end_thread(void) {
    Beat *last = beat;
    if (!last) return;
    beat = NULL;
    int from_itself = pthread_equal(pthread_self(), last->thread);
    pthread_mutex_lock(&lock);
    __atomic_store_n(&last->stopping, 1, __ATOMIC_RELAXED);
    last->alone = from_itself;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
    if (from_itself) { /* on_second ended the recording */
        pthread_detach(last->thread);
        return;
    }
    ending = 1;
    Py_BEGIN_ALLOW_THREADS
    join_wholly(last);
    Py_END_ALLOW_THREADS
    ending = 0;
    PyMem_RawFree(last);
}

int heartbeat_start(HeartbeatOptions wanted) {
    threads_on_entry = NULL;
    if (beat) return 0;
    Py_XINCREF(wanted.on_second);
    Py_XDECREF(options.on_second);
    options = wanted;
    began = ticks_now();
    if (ending) { /* on another thread: the next function that is entered begins */
        threads_on_entry = heartbeat_resume;
        return 0;
    }
    if (!prepare() && !begin_thread()) return 0;
    PyErr_SetString(PyExc_RuntimeError, "the limits of the process leave no room for another thread");
    return -1;
}

void heartbeat_stop(void) {
    threads_on_entry = NULL;
    end_thread();
    Py_CLEAR(options.on_second);
}

void heartbeat_pause(void) {
    if (!beat) return;
    threads_on_entry = heartbeat_resume; /* first: while we wait, another thread may end the recording */
    end_thread();
}

/* Without it no samples are taken; the rest continues. */
void heartbeat_resume(void) {
    if (ending) return; /* a later entry resumes */
    threads_on_entry = NULL;
    begin_thread();
}

static int resume_if_paused(void *unused) {
    (void)unused;
    if (threads_on_entry) heartbeat_resume();
    return 0;
}

void heartbeat_resume_soon(void) {
    if (threads_on_entry) Py_AddPendingCall(resume_if_paused, NULL);
}
