"""Trains for ever, and says each time that a step is done; how steps are known is the argument."""

import os
import sys
import time

import stepscope


def work():
    end = time.perf_counter() + 0.002
    total = 0
    while time.perf_counter() < end:
        total += sum(range(200))
    return total


def marked():
    while True:
        work()
        stepscope.step()
        os.write(1, b".")


def looped():
    for turn in range(1_000_000):
        if turn:  # the step before this turn is done
            os.write(1, b".")
        work()


{"marked": marked, "looped": looped}[sys.argv[1]]()
