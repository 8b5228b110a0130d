"""Stands for code that is not the user's: nobody asked for its lines."""

from itertools import repeat


def busy(count):
    """Floats come from a list of free ones. Integers would come from pools, which are slower by
    some 5 % when full: how full they are depends on what a tool keeps, not on what it does."""
    total = 0.0
    for _ in repeat(None, count):
        total += 1.5
        total *= 0.5
    return total
