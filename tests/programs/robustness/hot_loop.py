"""A very hot inner loop inside steps, for so many seconds of CPU time: beside other work it runs
longer, and is sampled as often. Says what it did, as JSON."""

import json
import sys
import time


def hot(n):
    total = 0
    for i in range(n):
        total += i * i
        total ^= 3
    return total


def cold():
    return sum(range(200_000))


def waited_ns():
    """How long the process was ready but had no core."""
    with open("/proc/self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1])


def train(seconds):
    waited = waited_ns()
    steps, hot_ns, cold_ns = 0, 0, 0
    end = time.process_time() + seconds
    began = time.perf_counter_ns()
    while time.process_time() < end:
        hot(60_000)
        between = time.perf_counter_ns()
        cold()
        after = time.perf_counter_ns()
        hot_ns += between - began
        cold_ns += after - between
        steps += 1
        began = after
    without_core_ns = waited_ns() - waited
    return {
        "steps": steps, "hot_ns": hot_ns, "cold_ns": cold_ns, "without_core_ns": without_core_ns,
    }


def same_function(seconds):
    """The steps' loop and the hot one in one function."""
    steps, total = 0, 0
    end = time.process_time() + seconds
    while time.process_time() < end:
        for i in range(60_000):
            total += i
            total ^= 5
        steps += 1
    return {"steps": steps}


if "decorated" in sys.argv:
    hot = profile(hot)
print(json.dumps((same_function if "same" in sys.argv else train)(float(sys.argv[1]))))
