"""Recursion far beyond the usual limit, given as argument."""

import sys
import threading

DEPTH = int(sys.argv[1])


def deep(n):
    return deep(n - 1) + 1 if n else 0


def run():
    sys.setrecursionlimit(DEPTH + 1000)
    print(deep(DEPTH))


threading.stack_size(512 * 2**20)
thread = threading.Thread(target=run)
thread.start()
thread.join()
