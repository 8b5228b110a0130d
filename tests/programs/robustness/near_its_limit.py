"""Fills as many MB as it is told, under a limit that it may set itself, and says what it computed."""

import resource
import sys

import numpy as np

LIMITS = {"address space": resource.RLIMIT_AS, "data": resource.RLIMIT_DATA}
wanted_mb, which, limit_mb = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if limit_mb:
    resource.setrlimit(LIMITS[which], (limit_mb << 20, limit_mb << 20))
kept = []
for number in range(wanted_mb):
    kept.append(np.full(2**17, number, dtype=np.float64))
print(int(sum(part.sum() for part in kept)))
with open("/proc/self/status") as status:
    figures = dict(line.split(":", 1) for line in status)
print("peak", int(figures["VmPeak"].split()[0]) // 1024, file=sys.stderr)
