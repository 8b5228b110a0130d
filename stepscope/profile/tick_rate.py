"""The length of a native clock tick: measured once, so that equal ticks are equal seconds."""

import functools
import time
from typing import Final

from stepscope.native import _core

_LEAST_NS: Final = 10_000_000  # two clock readings 10 ms apart give 5 digits
_FIRST: Final = _core.clock_triple()


@functools.cache
def seconds_a_tick() -> float:
    ticks, monotonic_ns, _ = _FIRST
    time.sleep(max(0, _LEAST_NS - (time.monotonic_ns() - monotonic_ns)) * 1e-9)
    ticks_now, monotonic_ns_now, _ = _core.clock_triple()
    return (monotonic_ns_now - monotonic_ns) / (ticks_now - ticks) * 1e-9
