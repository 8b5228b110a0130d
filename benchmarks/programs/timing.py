"""Times a piece of work inside the measured process, so that no tool's start-up counts."""

import builtins
import json
import os
import time


def _unchanged(function):
    return function


# kernprof needs to know what to record. `stepscope run` does not: with its own `@profile` these
# functions would never be thinned out, and the default would not be measured.
profile = getattr(builtins, "profile", _unchanged)
if profile.__module__.startswith("stepscope"):
    profile = _unchanged


class Times:
    """Wall and CPU seconds of each round, for the file that $BENCH_TIMES names. CPU time is that
    of the whole process, including threads that a tool started."""

    def __init__(self):
        self.rounds = {"wall_s": [], "cpu_s": []}

    def begin(self):
        self.cpu_s, self.wall_s = time.process_time(), time.perf_counter()

    def end(self, of=1):
        """`of`: how many pieces of work were done; the round is the time of one."""
        self.rounds["wall_s"].append((time.perf_counter() - self.wall_s) / of)
        self.rounds["cpu_s"].append((time.process_time() - self.cpu_s) / of)

    def write(self):
        with open(os.environ["BENCH_TIMES"], "w") as file:
            json.dump(self.rounds, file)


def measure(work, rounds, settle_s=0.0):
    """Before the first round the work is repeated for `settle_s` seconds."""
    settled = time.perf_counter() + settle_s
    while time.perf_counter() < settled:
        work()
    times = Times()
    for _ in range(rounds):
        times.begin()
        work()
        times.end()
    times.write()
