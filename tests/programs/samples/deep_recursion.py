"""A hundred thousand frames on top of each other, and a function at the very end."""

import sys
import time

sys.setrecursionlimit(200_000)


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def at_the_end() -> None:
    spin(1.0)


def descend(depth: int) -> None:
    if depth:
        descend(depth - 1)
    else:
        at_the_end()


descend(100_000)
print("done")
