"""How many events a window may hold by now: torch does not say before it is closed.

Closing takes up to 15 us per event, so that 50,000 of them stay below a second. At first only the
time is known. The smallest operators, with the memory that they allocate and free, make 1.6 million
events a second, others far fewer: assuming a million, a first window holds 80,000 at worst. Closed
windows give better figures: how many events per second, and how many per step.
"""

from typing import Final

MOST_EVENTS: Final = 50_000
FASTEST_PER_S: Final = 1_000_000.0
_MARGIN: Final = 1.5  # on earlier figures
_LONG_ENOUGH_NS: Final = 2_000_000  # enough for a rate


class Meter:
    def __init__(self) -> None:
        self.recorded = 0  # events in windows that were closed and kept
        self._per_s = FASTEST_PER_S
        self._in_a_step: int | None = None

    @property
    def left(self) -> int:
        return max(0, MOST_EVENTS - self.recorded)

    def refill(self) -> None:
        """Another stretch, with the same room again."""
        self.recorded = 0

    def closed(self, events: int, lasted_ns: int, steps: int) -> None:
        self.recorded += events
        if lasted_ns >= _LONG_ENOUGH_NS:
            self._per_s = min(FASTEST_PER_S, _MARGIN * events * 1e9 / lasted_ns)
        if steps:
            self._in_a_step = max(1, events // steps)

    def at_most(self, elapsed_ns: int, steps: int) -> int:
        """Events so far in an open window in which `steps` have ended."""
        by_time = elapsed_ns * self._per_s / 1e9
        if self._in_a_step is None:
            return int(by_time)
        return int(min(by_time, _MARGIN * self._in_a_step * (steps + 1)))

    def is_full(self, elapsed_ns: int, steps: int) -> bool:
        return self.at_most(elapsed_ns, steps) >= max(1, self.left)

    def time_left_ns(self, elapsed_ns: int) -> int:
        """When to check again at the latest."""
        full_ns = int(max(1, self.left) * 1e9 / self._per_s)
        return max(full_ns - elapsed_ns, full_ns // 4)

    def steps_that_fit(self, wanted: int) -> int:
        if self._in_a_step is None:
            return wanted
        return max(1, min(wanted, self.left // self._in_a_step))
