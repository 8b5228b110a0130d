"""What `stepscope compare` answers."""

from typing import Literal

import msgspec

from stepscope.model import Location, Record, Spread

What = Literal["phase", "function", "line", "op", "kernel"]


class ComparedRun(Record, frozen=True):
    """One of the sides: a run, or several of the same script."""

    run: str
    steps: int  # measured ones
    step_ms: Spread
    per_s: float
    samples_per_s: float | None
    batch_size: float | None  # mean samples in a step
    cpu_ms: float | None  # of the main thread in a step
    without_core: float | None  # share of the time in which it was ready but had no core
    peak_bytes: int | None
    runs: int = 1  # that make up this side; the figures are theirs together


class Change(Record, frozen=True):
    """Something that takes time in a step, before and after. Those of one kind, `what`, sum to the
    whole step, so their changes sum to the whole change."""

    what: What
    name: str
    before_ns: float  # in a mean step; of a sample where the batch sizes differ
    after_ns: float
    location: Location | None
    share: float | None = None  # of the whole change; null: there is none to speak of


class Ratio(Record, frozen=True):
    """A speed-up on some basis, and the range that holds it in 95 of 100 comparisons."""

    speedup: float
    low: float
    high: float
    basis: str
    significant: bool


class Difference(Record, frozen=True):
    """Something besides the script that differs, and what follows for the comparison."""

    what: str  # "machine", "busy", "batch size", "versions", "recording" …
    before: str
    after: str
    effect: str


class FindingChange(Record, frozen=True):
    id: str
    title: str
    change: Literal["gone", "new", "still there"]
    before: float | None  # share of the step
    after: float | None
    location: Location | None


class ComparisonAnswer(Record, frozen=True):
    """BEFORE against AFTER; above 1, AFTER is faster."""

    speedup: float
    low: float
    high: float
    basis: str
    significant: bool
    verdict: str
    runs: list[ComparedRun]
    changes: list[Change]
    cpu: Ratio | None = None  # the same on CPU time, where the machine was busy
    decided_on: str = ""  # the basis on which it is significant or not
    differences: list[Difference] = msgspec.field(default_factory=list)
    findings: list[FindingChange] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)

    @property
    def decisive(self) -> float:
        """The speed-up that is significant or not."""
        is_cpu = self.cpu is not None and self.cpu.basis == self.decided_on
        return self.cpu.speedup if is_cpu and self.cpu is not None else self.speedup


class ComparisonsAnswer(Record, frozen=True):
    """Each of several runs against the first."""

    runs: list[ComparedRun]
    comparisons: list[ComparisonAnswer]
