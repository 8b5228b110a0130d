"""Calls functions until somebody ends it, and says now and then how often."""

import os


def leaf(n):
    return n


def outer(n):
    return leaf(n) + len("four")


done = 0
while True:
    for i in range(100):
        outer(i)
    done += 100
    os.write(1, f"{done}\n".encode())
