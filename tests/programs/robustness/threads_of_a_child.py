"""Children in which several threads enter recorded functions at once, before anything else does."""

import functools
import itertools
import os
import sys
import threading
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forking with threads
sys.setswitchinterval(1e-6)


def work(n=2000):
    total = 0
    for i in range(n):
        total += i
    return total


# None of these functions is the script's: nothing is recorded in a child before its threads run.
threads = map(threading.Thread, itertools.repeat(None, 8), itertools.repeat(work))
os.register_at_fork(after_in_child=functools.partial(list, map(threading.Thread.start, threads)))
statuses = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        for thread in threading.enumerate()[1:]:
            thread.join()
        os._exit(0)
    statuses.append(os.waitpid(child, 0)[1])
print(len(statuses), "children,", sum(map(bool, statuses)), "failed")
