/* The clock: the CPU's invariant time-stamp counter where there is one, else CLOCK_MONOTONIC. */
#ifndef STEPSCOPE_CLOCK_H
#define STEPSCOPE_CLOCK_H

#include "storage/format.h"

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

typedef struct {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
} ClockTriple;

extern int clock_kind;          /* set once by clock_setup */
extern double clock_ticks_per_ns;

void clock_setup(void);
ClockTriple clock_triple(void);

static inline uint64_t clock_ns(clockid_t id) {
    struct timespec at;
    clock_gettime(id, &at);
    return (uint64_t)at.tv_sec * 1000000000ull + (uint64_t)at.tv_nsec;
}

/* Only where clock_kind is CLOCK_KIND_COUNTER. */
static inline uint64_t ticks_of_counter(void) {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/* 20 ns for the counter, 47 ns for CLOCK_MONOTONIC. */
static inline uint64_t ticks_now(void) {
    if (__builtin_expect(clock_kind == CLOCK_KIND_COUNTER, 1)) return ticks_of_counter();
    return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t ns_to_ticks(double ns) { return (uint64_t)(ns * clock_ticks_per_ns); }

#endif
