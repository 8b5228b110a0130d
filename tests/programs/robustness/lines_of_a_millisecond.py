"""Lines that last 1 ms and more; says how long each really took, as JSON: line number to ns, and
how long the process was ready but had no core: that may fall between its reading and ours."""

import json
import sys
import time

now = time.perf_counter_ns
real = {}


def busy(duration_ns):
    end = now() + duration_ns
    while now() < end:
        pass


def note(line, began):
    real[line] = real.get(line, 0) + now() - began


def work():
    for turn in range(20):
        began = now()
        busy(1_000_000)
        note(sys._getframe().f_lineno - 1, began)
        began = now()
        busy(3_000_000)
        note(sys._getframe().f_lineno - 1, began)
        began = now()
        [busy(500_000) for _ in range(4)]
        note(sys._getframe().f_lineno - 1, began)
        began = now()
        try:
            fails(2_000_000)
        except KeyError:
            note(sys._getframe().f_lineno - 2, began)
        began = now()
        list(generator(1_500_000))
        note(sys._getframe().f_lineno - 1, began)


def fails(duration_ns):
    busy(duration_ns)
    raise KeyError


def generator(duration_ns):
    busy(duration_ns)
    yield 1


def without_core_ns():
    with open("/proc/self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1])


before = without_core_ns()
work()
print(json.dumps({"lines": real, "without_core_ns": without_core_ns() - before}))
