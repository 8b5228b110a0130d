"""Ticks to nanoseconds, monotonic time to wall time, by a process's clock triples."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

# No run lasts longer (417 days in ns); anything beyond is damage, and would overflow sums.
FARTHEST: Final = 2**55
_LARGEST: Final = 2**61
_AT_ONCE: Final = 2**16  # ticks: what is computed on the way stays in the processor's cache
_SLOWEST_NS, _FASTEST_NS = 10_000.0, 0.01  # a tick of any existing counter


class Clock:
    """Piecewise linear between the triples, extrapolated beyond them.

    Beyond the triples the slope is that from the first to the last: two triples that are close
    together do not give the rate precisely enough for long distances.
    """

    def __init__(
        self,
        ticks: npt.NDArray[Any],
        monotonic_ns: npt.NDArray[Any],
        realtime_ns: npt.NDArray[Any],
        ns_per_tick: float = 1.0,
    ) -> None:
        """`ns_per_tick` is used only with fewer than two triples."""
        sane = (ticks < _LARGEST) & (monotonic_ns < _LARGEST) & (realtime_ns < _LARGEST)
        ticks, monotonic_ns, realtime_ns = ticks[sane], monotonic_ns[sane], realtime_ns[sane]
        self.first_tick = int(ticks[0]) if len(ticks) else 0
        self.first_ns = int(monotonic_ns[0]) if len(ticks) else 0
        since_ticks = distance(ticks, self.first_tick)
        since_ns = distance(monotonic_ns, self.first_ns)
        kept = _rising(since_ticks, since_ns)
        self._ticks = since_ticks[kept].astype(np.float64)
        self._ns = since_ns[kept].astype(np.float64)
        offsets = realtime_ns.astype(np.int64) - monotonic_ns.astype(np.int64)
        self._wall_offset_ns = int(np.median(offsets)) if len(offsets) else 0
        self.is_calibrated = len(self._ticks) > 1
        self.ns_per_tick = ns_per_tick
        if self.is_calibrated:
            self.ns_per_tick = float(self._ns[-1] / self._ticks[-1])

    def ns(self, ticks: npt.NDArray[Any]) -> Ints:
        """Monotonic nanoseconds of each tick."""
        found = np.empty(len(ticks), np.int64)
        for first in range(0, len(ticks), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            found[part] = self._ns_of(ticks[part])
        return found

    def _ns_of(self, ticks: npt.NDArray[Any]) -> Ints:
        since = distance(ticks, self.first_tick).astype(np.float64)
        if not self.is_calibrated:
            return self._from_first(since * self.ns_per_tick)
        inside = np.interp(since, self._ticks, self._ns)
        before = np.minimum(since - self._ticks[0], 0.0)
        after = np.maximum(since - self._ticks[-1], 0.0)
        outside = (before + after) * self.ns_per_tick
        return self._from_first(inside + outside)

    def _from_first(self, since_ns: npt.NDArray[np.float64]) -> Ints:
        since: Ints = np.rint(np.clip(since_ns, -_LARGEST, _LARGEST)).astype(np.int64)
        return since + self.first_ns

    def ns_at(self, tick: int) -> int:
        return int(self.ns(np.array([tick], dtype=np.uint64))[0])

    def duration_ns(self, ticks: npt.NDArray[Any]) -> Ints:
        """Nanoseconds of durations in ticks."""
        bounded = np.minimum(ticks, np.uint64(FARTHEST)).astype(np.float64)
        ns: Ints = np.rint(np.minimum(bounded * self.ns_per_tick, FARTHEST)).astype(np.int64)
        return ns

    def ticks_at(self, monotonic_ns: int) -> int:
        """The inverse of `ns_at`."""
        since = float(monotonic_ns - self.first_ns)
        if not self.is_calibrated:
            return self.first_tick + round(since / self.ns_per_tick)
        inside = float(np.interp(since, self._ns, self._ticks))
        outside = min(since - float(self._ns[0]), 0.0) + max(since - float(self._ns[-1]), 0.0)
        return self.first_tick + round(inside + outside / self.ns_per_tick)

    def wall_ns(self, monotonic_ns: int) -> int:
        """Unix time of a monotonic one."""
        return monotonic_ns + self._wall_offset_ns

    def monotonic_ns(self, wall_ns: int) -> int:
        """Monotonic time of a Unix one."""
        return wall_ns - self._wall_offset_ns


def distance(values: npt.NDArray[Any], origin: int) -> Ints:
    """values - origin as signed integers, limited to the longest possible run."""
    wrapped = values.astype(np.uint64) - np.uint64(origin & (2**64 - 1))
    return np.clip(wrapped.astype(np.int64), -FARTHEST, FARTHEST)


def _rising(ticks: Ints, ns: Ints) -> npt.NDArray[np.bool_]:
    """Which triples go forward in both clocks; the others are damage."""
    kept = np.zeros(len(ticks), dtype=np.bool_)
    last_ticks, last_ns = -1, -1
    for index, (tick, at) in enumerate(zip(ticks.tolist(), ns.tolist(), strict=True)):
        is_rate = _FASTEST_NS * tick <= at <= _SLOWEST_NS * tick
        if last_ticks < tick < FARTHEST and last_ns < at < FARTHEST and is_rate:
            kept[index] = True
            last_ticks, last_ns = tick, at
    return kept
