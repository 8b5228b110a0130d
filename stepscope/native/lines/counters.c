/* Counters of the process, read from the system and added to events.bin. */
#define _GNU_SOURCE
#include "python/compat.h"
#include "lines/counters.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "interpreter/run_delay.h"
#include "lines/lines.h"
#include "storage/descriptors.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static Descriptor io_file = NO_DESCRIPTOR, statm_file = NO_DESCRIPTOR;
static Descriptor stat_file = NO_DESCRIPTOR;

void counters_after_fork(void) { /* these still read the parent's values */
    descriptor_close(&io_file);
    descriptor_close(&statm_file);
    descriptor_close(&stat_file);
    run_delay_after_fork();
}

static uint64_t pack(long high, long low) {
    return ((uint64_t)(high & 0xffffffff) << 32) | (uint64_t)(low & 0xffffffff);
}

static void event_io(uint64_t now, const struct rusage *usage) {
    char text[512];
    unsigned long long read_bytes = 0, written_bytes = 0;
    if (!descriptor_pread(&io_file, "/proc/self/io", text, sizeof text))
        sscanf(text, "rchar: %llu wchar: %llu", &read_bytes, &written_bytes);
    event_add(EVENT_IO, (Event){.start = now, .end = read_bytes, .value0 = written_bytes,
                                .value1 = pack(usage->ru_minflt, usage->ru_majflt)});
}

/* The operating system's threads, compute threads included; 0: not known. */
static uint32_t threads_now(void) {
    char text[1024];
    unsigned threads = 0;
    if (descriptor_pread(&stat_file, "/proc/self/stat", text, sizeof text)) return 0;
    const char *after_name = strrchr(text, ')'); /* the name may contain anything */
    if (after_name)
        sscanf(after_name + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u", &threads);
    return threads;
}

static void event_memory(uint64_t now, const struct rusage *usage) {
    char text[256];
    unsigned long long total = 0, resident = 0, mapped = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!descriptor_pread(&statm_file, "/proc/self/statm", text, sizeof text))
        sscanf(text, "%llu %llu %llu", &total, &resident, &mapped);
    event_add(EVENT_MEMORY, (Event){.start = now,
                                    .extra = (uint32_t)(mapped * page >> 10),
                                    .end = resident * page,
                                    .value0 = (uint64_t)usage->ru_maxrss * 1024,
                                    .value1 = run_delay_ns()});
}

/* Adding up all counters takes some 10 us for 10,000 lines: ten times a second is enough. */
static void event_cost(uint64_t now) {
    static uint64_t last;
    if (now - last < ns_to_ticks(1e8)) return;
    last = now;
    LineTotals totals = lines_totals();
    event_add(EVENT_COST, (Event){.start = now, .end = cost_slow_ticks, .value0 = totals.hits,
                                  .value1 = totals.exits, .extra = threads_now()});
}

void event_counters(void) {
    struct rusage usage;
    uint64_t now = ticks_now(), began = slow_path_begin();
    getrusage(RUSAGE_SELF, &usage);
    event_add(EVENT_CPU, (Event){.start = now, .end = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
                                 .value0 = clock_ns(CLOCK_THREAD_CPUTIME_ID),
                                 .value1 = pack(usage.ru_nvcsw, usage.ru_nivcsw)});
    event_io(now, &usage);
    event_memory(now, &usage);
    event_cost(now);
    slow_path_end(began);
}
