"""Which steps get a window of operators, and whether it is time to open the next one.

It gets what happened and decides what to do next. It knows no framework and no file, and reads only
the clock that it is given.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

SETTLED_STEPS: Final = 3  # without a compilation
IDLE_STEPS: Final = 10  # between checks whether another window is cheap by now
SHARE_OF_BUDGET: Final = 1 / 6  # for windows: hooks and samples need theirs


class Stretch(NamedTuple):
    """Steps to record."""

    after: int  # this many steps have ended
    steps: int | None = None  # None: to the end
    if_cheap: bool = False


_DEFAULT: Final = (Stretch(after=5, steps=3), Stretch(after=25, steps=3, if_cheap=True))


def stretches_of(ops: str) -> list[Stretch]:
    """From the option --ops."""
    first, colon, last = ops.partition(":")
    if colon:
        return [Stretch(after=int(first) - 1, steps=int(last) - int(first) + 1)]
    return [Stretch(after=0)] if ops == "all" else list(_DEFAULT)


def _yes() -> bool:
    return True


class Schedule:
    """The remaining stretches; the first one is due or being recorded.

    `named_steps_settle`: steps that --ops names wait for compilations as well. `is_alone`: asked
    before an extra window, as each of several ranks would choose a different step.
    """

    def __init__(
        self,
        ops: str,
        budget_share: float,
        now_ns: Callable[[], int],
        *,
        named_steps_settle: bool,
        is_alone: Callable[[], bool] = _yes,
    ) -> None:
        self._stretches = stretches_of(ops)
        self.is_default = ops == "auto"
        self._share = budget_share * SHARE_OF_BUDGET
        self.now_ns = now_ns
        self._settles = self.is_default or named_steps_settle
        self._is_alone = is_alone
        self._began_ns = now_ns()
        self._spent_ns = 0  # on opening and closing
        self.opened_ns = 0  # the last window
        self._last_step: int | None = None  # of the window; None: no step ends it
        self._compiled_at = -SETTLED_STEPS  # the step of the last compilation
        self.step = 0  # the last training step that ended

    # --- which steps -----------------------------------------------------------------------------

    def compiled(self) -> None:
        """Something was compiled in this step: the next ones may still be slow."""
        self._compiled_at = self.step

    @property
    def begins_at_once(self) -> bool:
        return bool(self._stretches) and self._stretches[0].after == 0

    def is_time(self) -> bool:
        """Whether to begin the next stretch."""
        if not self._stretches:
            return False
        stretch = self._stretches[0]
        if self.step < stretch.after:
            return False
        if self._settles and self.step < self._compiled_at + SETTLED_STEPS:
            return False
        return not stretch.if_cheap or (self._is_cheap() and self._is_alone())

    def _is_cheap(self) -> bool:
        """Another window as costly as those so far would stay in the windows' share."""
        return 2 * self._spent_ns <= self._share * (self.now_ns() - self._began_ns)

    def look_again_at(self) -> int | None:
        """The step at which to ask again if it is not time yet. None: the next one."""
        if self._stretches and not self._stretches[0].if_cheap:
            return None  # it waits for a particular step
        return self.step + IDLE_STEPS

    def begin_next(self, steps_by_default: Callable[[int], int]) -> bool:
        """Decide where the next stretch ends. False: its steps have passed while no window could
        be opened, and it is dropped. `steps_by_default`: of the wanted number, how many to
        record."""
        stretch = self._stretches[0]
        self._last_step = None
        if stretch.steps is None:
            return True
        if self.is_default:
            self._last_step = self.step + steps_by_default(stretch.steps)
            return True
        self._last_step = stretch.after + stretch.steps
        if self.step >= self._last_step:
            self.done()
            return False
        return True

    def begin_without_end(self) -> None:
        """A window that belongs to no stretch: no step ends it."""
        self._last_step = None

    def is_last_step(self) -> bool:
        return self._last_step is not None and self.step >= self._last_step

    def done(self) -> None:
        """Drop the first stretch: it is recorded."""
        self._stretches.pop(0)

    def enough(self) -> None:
        """Record nothing more."""
        self._stretches.clear()

    def give_up(self) -> None:
        """Something failed: open no more windows of any kind."""
        self.enough()
        self.is_default = False

    # --- what it costs ---------------------------------------------------------------------------

    def opened(self, began_ns: int) -> None:
        """A window was opened; opening it began at `began_ns`."""
        self.opened_ns = self.now_ns()
        self._spent_ns += self.opened_ns - began_ns

    def closed(self, began_ns: int) -> None:
        self._spent_ns += self.now_ns() - began_ns
