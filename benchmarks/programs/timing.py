"""Times a piece of work inside the measured process, so that no tool's start-up counts."""

import builtins
import json
import os
import time

# kernprof and `stepscope run` put `profile` among the builtins; without them it does nothing.
profile = getattr(builtins, "profile", lambda function: function)


def measure(work, rounds, settle_s=0.0):
    """Seconds of each round, written to the file that $BENCH_TIMES names.

    Before the first round the work is repeated for `settle_s` seconds.
    """
    settled = time.perf_counter() + settle_s
    while time.perf_counter() < settled:
        work()
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    with open(os.environ["BENCH_TIMES"], "w") as file:
        json.dump(seconds, file)
