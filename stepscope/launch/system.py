"""The machine's state from look to look, as the supervisor sees it: system.jsonl."""

import json
import os
import time
from collections.abc import Callable
from typing import Any, Final

from stepscope.launch.containers import (
    container_cpu_used_ns,
    container_limits,
    container_memory_used,
)
from stepscope.launch.nvml import Devices
from stepscope.launch.waiting_threads import waited_ns
from stepscope.store.format import SYSTEM_FILE
from stepscope.store.plain_files import append_plain

# (until then, one look every so many seconds). The steps of a short run are over in less than a
# second, and what is counted in them lies between two looks, each of which takes 1 ms of CPU time.
_INTERVALS_S: Final = ((20.0, 0.2), (600.0, 1.0))
_LATER_INTERVAL_S: Final = 10.0
# Of /proc/stat: user, nice, system, irq, softirq, and steal, which other virtual machines took.
# Idle and waiting for a disk (4 and 5) are not use, guests (9 and 10) are part of user and nice.
_USED: Final = (1, 2, 3, 6, 7, 8)


class SystemLog:
    """One line per sample. `due_s` says how long to wait for the next one."""

    def __init__(
        self,
        run_folder: str,
        clock: Callable[[], float] = time.monotonic,
        pid: int | None = None,
    ) -> None:
        """`pid`: of the script."""
        self._pid = pid
        self._path = os.path.join(run_folder, SYSTEM_FILE)
        self._clock = clock
        self._started = self._next = clock()
        self._devices = Devices()
        self._limit_bytes = container_limits().memory_bytes
        self._refused = False

    def due_s(self) -> float:
        return max(0.0, self._next - self._clock())

    def look_if_due(self) -> None:
        if self._clock() >= self._next:
            self.look()

    def look(self) -> None:
        now = self._clock()
        age_s = now - self._started
        intervals_s = (every_s for until_s, every_s in _INTERVALS_S if age_s < until_s)
        self._next = now + next(intervals_s, _LATER_INTERVAL_S)
        if self._refused:
            return
        line = json.dumps(self._facts()) + "\n"
        try:
            append_plain(self._path, line.encode())
        except OSError:  # no space, or the script removed the folder: the training continues
            self._refused = True

    def close(self) -> None:
        self.look()
        self._devices.close()

    def _facts(self) -> dict[str, Any]:
        return {
            "realtime_ns": time.time_ns(),
            "monotonic_ns": time.monotonic_ns(),
            "load": _load(),
            "cpu_ns": cpu_used_ns(),
            "container_cpu_ns": container_cpu_used_ns(),
            "memory_available_bytes": _memory_available_bytes(),
            "container_memory_bytes": container_memory_used(),
            "container_limit_bytes": self._limit_bytes,
            "devices": self._devices.read(),
            "waited_ns": waited_ns(self._pid) if self._pid is not None else {},
        }


def cpu_used_ns(path: str = "/proc/stat") -> int | None:
    """By all programs since the machine started, on the cores that this process may use."""
    try:
        cores = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file if line.startswith("cpu")]
        used = [int(row[column]) for row in rows if row[0] in cores for column in _USED]
    except (OSError, ValueError, IndexError, AttributeError):  # not Linux
        return None
    return sum(used) * (1_000_000_000 // os.sysconf("SC_CLK_TCK")) if used else None


def _load() -> float | None:
    """Processes that run or are ready to, averaged over the last minute."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _memory_available_bytes() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            rows = [line.split() for line in file if line.startswith("MemAvailable:")]
    except OSError:
        return None
    return int(rows[0][1]) * 1024 if rows else None
