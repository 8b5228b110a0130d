"""Several threads fork at once, beside the step loop; every child works and ends by itself."""

import os
import sys
import threading
import warnings

import stepscope

warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forking with threads


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def fork_and_wait(forks):
    for _ in range(forks):
        child = os.fork()
        if child == 0:
            work(200)
            os._exit(0)
        statuses.append(os.waitpid(child, 0)[1])


threads, forks = int(sys.argv[1]), int(sys.argv[2])
statuses = []
forking = [threading.Thread(target=fork_and_wait, args=(forks,)) for _ in range(threads)]
for thread in forking:
    thread.start()
while any(thread.is_alive() for thread in forking):
    work(2000)
    stepscope.step()
print(len(statuses), "children,", sum(map(bool, statuses)), "failed")
