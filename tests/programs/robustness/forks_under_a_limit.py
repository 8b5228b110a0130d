"""Limits its private memory, then marks steps in itself and in a forked child."""

import os
import resource

import stepscope

resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))


def steps(count):
    for _ in range(count):
        sum(range(1000))
        stepscope.step()


steps(10)
child = os.fork()
if not child:
    steps(50)
    os._exit(0)
os.waitpid(child, 0)
steps(10)
print("done")
