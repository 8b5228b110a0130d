"""Prints what a script can find out about how it was started."""

import json
import os
import signal
import sys

# Signals 32 and 33 are the C library's own, for its threads. SIGBUS is ours while recording, for run
# files that somebody cuts; Python's own answer about it is compared elsewhere.
mine = ~(0b11 << 31 | 1 << (signal.SIGBUS - 1))
with open("/proc/self/status") as status:
    rows = [line.split() for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
signals = {name: int(mask, 16) & mine for name, mask in rows}

print(
    json.dumps(
        {
            "argv": sys.argv,
            "path": sys.path,
            "name": __name__,
            "file": __file__,
            "spec": __spec__ and [__spec__.name, __spec__.origin, __spec__.has_location],
            "loader": type(__loader__).__name__,
            "main": sys.modules["__main__"].__dict__ is globals(),
            "names": sorted(globals()),
            "flags": str(sys.flags),
            "sitecustomize": "sitecustomize" in sys.modules,
            "warnoptions": sys.warnoptions,
            "cwd": os.getcwd(),
            "group": os.getpgrp() == os.getpid(),
            "signals": signals,
            "environment": {
                name: value
                for name, value in os.environ.items()
                if name != "PYTHONPATH" and not name.startswith("STEPSCOPE_")
            },
        }
    )
)
