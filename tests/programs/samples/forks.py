"""Parent and forked child work at the same time; the parent goes on in library code."""

import json
import os
import time


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def in_the_child() -> None:
    spin(0.6)


child = os.fork()
if child == 0:
    in_the_child()
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps({"child": child}))
