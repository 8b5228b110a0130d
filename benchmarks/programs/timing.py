"""Times a piece of work inside the measured process, so that no tool's start-up counts."""

import builtins
import json
import os
import time


def _as_it_is(function):
    return function


# kernprof needs to be told what to record. `stepscope run` does not: with its own `@profile` these
# functions would never be thinned out, and the default would not be measured.
profile = getattr(builtins, "profile", _as_it_is)
if profile.__module__.startswith("stepscope"):
    profile = _as_it_is


def measure(work, rounds, settle_s=0.0):
    """Wall and CPU seconds of each round, written to the file that $BENCH_TIMES names.

    Before the first round the work is repeated for `settle_s` seconds. CPU time is the whole
    process's, with the threads that a tool started.
    """
    settled = time.perf_counter() + settle_s
    while time.perf_counter() < settled:
        work()
    times = {"wall_s": [], "cpu_s": []}
    for _ in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        times["wall_s"].append(time.perf_counter() - wall)
        times["cpu_s"].append(time.process_time() - cpu)
    with open(os.environ["BENCH_TIMES"], "w") as file:
        json.dump(times, file)
