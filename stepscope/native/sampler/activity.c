/* What threads do, from /proc: "running", or the number of the system call that a thread is in.
   With the file kept open, reading it takes 1 us. */
#define _GNU_SOURCE
#include "sampler/activity.h"
#include "clock/clock.h"
#include "storage/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WATCHED = 16, WORKS_FROM_CORES_DIVIDED_BY = 4 };

typedef struct {
    unsigned long native; /* 0: free */
    Descriptor file;
} Watched;

static Watched watched[WATCHED];

static void let_go(Watched *each) {
    descriptor_close(&each->file);
    each->native = 0;
}

void activities_forget(void) {
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].native) let_go(&watched[i]);
}

static Watched *begin_to_watch(unsigned long native) {
    char path[64];
    for (int i = 0; i < WATCHED; i++) {
        if (watched[i].native) continue;
        snprintf(path, sizeof path, "/proc/self/task/%lu/syscall", native);
        if (descriptor_open(&watched[i].file, path, O_RDONLY)) return NULL;
        watched[i].native = native;
        return &watched[i];
    }
    return NULL;
}

static Watched *watched_of(unsigned long native) {
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].native == native) return &watched[i];
    return begin_to_watch(native);
}

Activity activity_of(unsigned long native) {
    char text[256];
    Watched *each = native ? watched_of(native) : NULL;
    if (!each) return ACTIVITY_UNKNOWN;
    ssize_t length = descriptor_is_ours(&each->file) ? pread(each->file.fd, text, sizeof text - 1, 0) : -1;
    if (length <= 0) { /* the thread has ended, or the script has closed our file */
        let_go(each);
        return ACTIVITY_UNKNOWN;
    }
    text[length] = 0;
    if (!strncmp(text, "running", 7)) return ACTIVITY_RUNS;
    return strtol(text, NULL, 10) == SYS_futex ? ACTIVITY_AWAITS : ACTIVITY_WAITS;
}

/* Its clock as pthread_getcpuclockid() makes it, which needs the thread to be alive. */
uint64_t activity_cpu_ns(unsigned long native) {
    enum { OF_A_THREAD = 4, AS_SCHEDULED = 2 };
    return clock_ns((clockid_t)(~(unsigned)native << 3 | OF_A_THREAD | AS_SCHEDULED));
}

/* Of all threads of the process but this one. */
static uint64_t others_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int activity_is_awaiting_work(unsigned long native) {
    uint64_t before = clock_ns(CLOCK_MONOTONIC), cpu = others_cpu_ns();
    if (activity_of(native) != ACTIVITY_AWAITS) return 0;
    uint64_t more = others_cpu_ns() - cpu, passed = clock_ns(CLOCK_MONOTONIC) - before;
    return more > passed / WORKS_FROM_CORES_DIVIDED_BY;
}
