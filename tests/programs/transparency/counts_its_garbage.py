"""Counts the containers that the garbage collector knows: lines and calls of its own make none."""

import gc


def leaf(number):
    return number + 1


def squares(numbers):
    for number in numbers:
        yield number * number


def work():
    total = 0
    for number in range(1000):
        total = leaf(total)
    for square in squares(range(1000)):
        total += square
    return total


def grown():
    """How many more there are after the work."""
    count, objects = gc.get_count()[0], len(gc.get_objects())
    work()
    return gc.get_count()[0] - count, len(gc.get_objects()) - objects


gc.disable()
# The smallest: whatever sees a function for the first time may note something, once.
print(*map(min, zip(*(grown() for _ in range(10)))))
gc.enable()
gc.collect()
garbage = [[] for _ in range(10)]
for one in garbage:
    one.append(one)
del garbage, one
print(gc.collect(), gc.garbage, gc.isenabled(), gc.get_threshold())
