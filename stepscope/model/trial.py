"""What `stepscope try` answers: the ladder of fixes, each predicted, measured and checked."""

from typing import Literal

import msgspec

from stepscope.model import Location, Record
from stepscope.model.findings import Speedup

Status = Literal["kept", "rejected", "failed", "skipped"]

Same = Literal["bitwise", "within tolerance", "different", "unknown"]


class LossCheck(Record, frozen=True):
    """The losses with the fix, beside those without it."""

    same: bool | None  # up to what the fix says about rounding; null: nothing can be said
    how: Same
    as_promised: bool  # what the fix says that the losses may do; true if nothing can be said
    max_difference: float | None  # the largest, relative; null: nothing was compared
    words: str


class Rung(Record, frozen=True):
    """A fix, tried on top of those that were kept before it."""

    fix: str | None  # null: nothing that can be applied from outside
    title: str
    finding: str | None  # the finding that asked for it
    predicted: Speedup | None  # on top of what was kept before
    status: Status
    reason: str | None
    what: str | None = None  # "num_workers=2"
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    step_ms: float | None = None  # with it
    loss: LossCheck | None = None
    patch: str | None = None
    ceiling: float | None = None  # computed from the finding's time, where nothing was measured
    run: str | None = None  # with it, for `stepscope show`
    location: Location | None = None  # of the finding
    is_ceiling: bool = False  # it only shows what the best possible fix would gain


class TrialBaseline(Record, frozen=True):
    """The script as it is."""

    step_ms: float
    per_s: float
    samples_per_s: float | None
    steps: int
    verdict: str
    run: str


class Noise(Record, frozen=True):
    """The script against itself: ratios of the control's rounds."""

    low: float
    high: float


class TrialAnswer(Record, frozen=True):
    folder: str
    baseline: TrialBaseline
    noise: Noise | None  # null: nothing was measured
    rungs: list[Rung]
    together: Speedup | None  # all kept fixes against the script as it is
    runs: int
    seconds: float
    stopped: str | None  # why the ladder ends early
    notes: list[str] = msgspec.field(default_factory=list)
    gained: float | None = None  # by all that was kept; null: nothing was
    step_seconds: float | None = None  # of `seconds`, in the steps; the rest is mostly set-up
