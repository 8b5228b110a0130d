"""The machine's state, second by second, as the supervisor sees it: system.jsonl."""

import json
import os
import time
from collections.abc import Callable
from typing import Any, Final

from stepscope.launch.containers import container_limits, container_memory_used
from stepscope.launch.nvml import Devices
from stepscope.store.format import SYSTEM_FILE

_FULL_DETAIL_S: Final = 600  # after ten minutes a sample every ten seconds is enough
_INTERVAL_S: Final = 1.0
_LATER_INTERVAL_S: Final = 10.0


class SystemLog:
    """One line per sample. `due_s` says how long to wait for the next one."""

    def __init__(self, run_folder: str, clock: Callable[[], float] = time.monotonic) -> None:
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
        young = now - self._started < _FULL_DETAIL_S
        self._next = now + (_INTERVAL_S if young else _LATER_INTERVAL_S)
        if self._refused:
            return
        line = json.dumps(self._facts()) + "\n"
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line)
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
            "memory_available_bytes": _memory_available_bytes(),
            "container_memory_bytes": container_memory_used(),
            "container_limit_bytes": self._limit_bytes,
            "devices": self._devices.read(),
        }


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
