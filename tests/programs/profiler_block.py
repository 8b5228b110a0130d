"""A program that records a block of itself, twice."""

import sys

import stepscope


def work(turns: int) -> int:
    total = 0
    for turn in range(turns):
        total += turn
    return total


@stepscope.profile
def decorated() -> int:
    return work(3)


work(1000)  # before: not recorded
with stepscope.Profiler(sys.argv[1]):
    with stepscope.region("outer"), stepscope.region("inner"):
        work(7)
    decorated()
work(1000)  # between: not recorded
with stepscope.Profiler(sys.argv[2], exact=True) as profiler:
    work(5)
print(profiler.folder)
