"""System calls that return early when a signal arrives, called from C without any retry."""

import ctypes
import json
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)


class TimeValue(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("microseconds", ctypes.c_long))


def poll() -> int:
    return libc.poll(None, 0, 300)


def usleep() -> int:
    return libc.usleep(300_000)


def select() -> int:
    return libc.select(0, None, None, None, ctypes.byref(TimeValue(0, 300_000)))


def spin(stop: threading.Event) -> None:
    while not stop.is_set():
        pass


stop = threading.Event()
busy = threading.Thread(target=spin, args=(stop,))
busy.start()
results = []
for call in (poll, usleep, select):
    ctypes.set_errno(0)
    began = time.monotonic()
    status = call()
    lasted = time.monotonic() - began
    results.append([call.__name__, status, ctypes.get_errno(), lasted >= 0.2999])
stop.set()
busy.join()
print(json.dumps(results))
