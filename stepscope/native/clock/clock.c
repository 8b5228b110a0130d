/* Which clock this machine has, and triples that tie its ticks to the system's clocks. */
#include "clock/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

int clock_kind = CLOCK_KIND_MONOTONIC;
double clock_ticks_per_ns = 1.0;

static int counter_is_invariant(void) {
#if defined(__x86_64__)
    unsigned int a, b, c, d;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d)) return 0;
    return (d >> 8) & 1; /* "invariant TSC": same rate in every power state */
#elif defined(__aarch64__)
    return 1; /* the architected counter always is */
#else
    return 0;
#endif
}

/* Ticks read between two reads of the system's clock are known to within half their distance;
   the best of 50 is good to some tens of ns even on a busy machine. */
ClockTriple clock_triple(void) {
    ClockTriple best = {0, 0, 0};
    uint64_t best_distance = UINT64_MAX;
    for (int i = 0; i < 50; i++) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC);
        uint64_t ticks = ticks_now();
        uint64_t realtime = clock_ns(CLOCK_REALTIME);
        uint64_t after = clock_ns(CLOCK_MONOTONIC);
        if (after - before >= best_distance) continue;
        best_distance = after - before;
        best.ticks = ticks;
        best.monotonic_ns = before + (after - before) / 2;
        best.realtime_ns = realtime;
    }
    return best;
}

/* The rate is only used for thresholds (1,000 stamps a second, the budget); triples that are this far
   apart are good to a few parts in ten thousand, and every recorded process waits for them. The
   report's times come from triples that are seconds apart. */
#define RATE_NS 200000

void clock_setup(void) {
    if (!counter_is_invariant()) return;
    clock_kind = CLOCK_KIND_COUNTER;
    ClockTriple first = clock_triple();
    while (clock_ns(CLOCK_MONOTONIC) - first.monotonic_ns < RATE_NS) continue;
    ClockTriple second = clock_triple();
    clock_ticks_per_ns = (double)(second.ticks - first.ticks) /
                         (double)(second.monotonic_ns - first.monotonic_ns);
}
