"""Starts and stops recording again and again; prints what the process holds on to, as JSON."""

import gc
import json
import os
import shutil
import sys

from stepscope.record import recording
from stepscope.launch.options import RecordOptions

WARM_UP, ROUNDS = 100, 1_000


def held():
    gc.collect()
    with open("/proc/self/statm") as statm:
        resident_bytes = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/maps") as maps:
        mappings = len(maps.readlines())
    return {
        "resident_bytes": resident_bytes,
        "mappings": mappings,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "objects": len(gc.get_objects()),
    }


def once(folder):
    recording.start(folder, RecordOptions(max_bytes=4 * 2**20))
    space = {}
    exec(compile("def f(n):\n    for i in range(n):\n        n -= i\nf(20)", "work.py", "exec"), space)
    recording.stop()
    shutil.rmtree(folder)


folder = os.path.join(sys.argv[1], "run")
for _ in range(WARM_UP):
    once(folder)
before = held()
for _ in range(ROUNDS):
    once(folder)
print(json.dumps({"before": before, "after": held()}))
