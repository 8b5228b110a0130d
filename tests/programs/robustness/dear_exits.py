"""Records calls for three seconds, on a machine where lines cost nothing and exits a lot."""

import sys
import time

import stepscope
from stepscope.record import recording
from stepscope.record.engines.calibrate import EventCost

recording.measure_event_cost = lambda: EventCost(line_ns=1e-6, exit_ns=1e5)


def tiny():
    return 1


def quiet(until_s):
    while time.monotonic() < until_s:
        for _ in range(1_000):
            tiny()


with stepscope.Profiler(sys.argv[1]):
    quiet(time.monotonic() + 3.0)
