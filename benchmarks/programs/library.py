"""Stands for code that is not the user's: its lines are not to be recorded."""

from itertools import repeat


def busy(count):
    """Floats come from a free list. Integers would come from pools, which are some 5 % slower when
    full: how full they are depends on what a tool keeps, not on what it does."""
    total = 0.0
    for _ in repeat(None, count):
        total += 1.5
        total *= 0.5
    return total
