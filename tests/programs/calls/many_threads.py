"""Threads that start and end, some at once, as many as the argument says."""

import sys
import threading

COUNT = int(sys.argv[1])


def leaf(n):
    return len(str(n))


def work(n):
    for i in range(5):
        leaf(i)


def start(n):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


for _ in range(COUNT // 20):
    start(20)
