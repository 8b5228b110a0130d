"""Step clock: call tick() at the end of each training step, dump() once at the end.

ZOO_TIMES names the file for the wall times, ZOO_CPU (optional) the one for the process's CPU times.
"""
import json
import os
import time


class StepClock:
    def __init__(self):
        self.durations = []
        self.cpu = []
        self.start()

    def start(self):
        self._cpu = time.process_time()
        self._last = time.perf_counter()

    def tick(self):
        now = time.perf_counter()
        cpu = time.process_time()
        self.durations.append(now - self._last)
        self.cpu.append(cpu - self._cpu)
        self._last, self._cpu = now, cpu

    def dump(self):
        for variable, values in (("ZOO_TIMES", self.durations), ("ZOO_CPU", self.cpu)):
            target = os.environ.get(variable)
            if target:
                with open(target, "w") as f:
                    json.dump(values, f)
