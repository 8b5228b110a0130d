"""Recursion far deeper than what the recording has room for, to its end and beyond."""

import sys

import stepscope


def down(n):
    if n == 0:
        return 0
    return down(n - 1)


def without_end(n):
    without_end(n + 1)


sys.setrecursionlimit(int(sys.argv[1]))
down(int(sys.argv[1]) - 100)
try:
    without_end(0)
except RecursionError:
    print("RecursionError")
for step in range(10):
    down(3)
    stepscope.step()
