"""Marks steps and says each one's number; dies in the way, and after the step, that it is told."""

import ctypes
import mmap
import os
import resource
import signal
import sys
import time

import stepscope


def work():
    end = time.perf_counter() + 0.001
    total = 0
    while time.perf_counter() < end:
        total += sum(range(50))
    return total


def out_of_memory():
    """Refused by the limit, as a container refuses: an exception that nobody catches."""
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
    kept = []
    while True:
        kept.append(bytearray(2**24))


def killed_for_memory():
    """What the kernel's out-of-memory killer does."""
    os.kill(os.getpid(), signal.SIGKILL)


def bus_error():
    with open("short.bin", "wb") as file:
        file.truncate(4096)
    with open("short.bin", "r+b") as file:
        mapped = mmap.mmap(file.fileno(), 4096)
        file.truncate(0)
        mapped[0] = 1


WAYS = {
    "never": lambda: None,
    "_exit": lambda: os._exit(7),
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "terminated": lambda: signal.raise_signal(signal.SIGTERM),
    "illegal": lambda: signal.raise_signal(signal.SIGILL),
    "bus": bus_error,
    "memory": out_of_memory,
    "killed": killed_for_memory,
    "exception": lambda: 1 / 0,
    "exit": lambda: sys.exit(3),
}
how, last = sys.argv[1], int(sys.argv[2])
for step in range(1, 1_000_000):
    work()
    stepscope.step()
    os.write(1, b"%d\n" % step)
    if step == last:
        WAYS[how]()
        if how == "never":
            break
