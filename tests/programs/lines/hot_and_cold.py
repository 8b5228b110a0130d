"""Functions whose ways differ by what they are asked for: some are hot, some hardly run."""

import sys


def ways(number, way=""):
    total = 0
    for i in range(3):
        total += i
    try:
        if way == "caught":
            raise ValueError("caught")
        if way == "raised":
            parts = [
                total,
                number,
            ]
            total = parts[0] / 0
        with open("/dev/null"):
            total += 1
            if way == "frame":
                return sys._getframe().f_lasti, sys._getframe().f_lineno
    except ValueError:
        total -= 100
    finally:
        done = total
    while total > 2:
        total -= 1
    return total + done


def counted(n):
    for i in range(n):
        try:
            got = yield i
        except KeyError:
            got = "thrown"
        if got:
            yield got


def delegated(n):
    yield from counted(n)
    return n


print(ways(1), list(counted(2)), list(delegated(2)))
