"""What `show findings` answers: what is slow, why, what to change, and what that will gain."""

from typing import Literal

import msgspec

from stepscope.model import Location, Process, Record

Severity = Literal["high", "medium", "low"]


class Speedup(Record, frozen=True):
    """Ratio of mean measured step times: before the fix to after it."""

    expected: float
    low: float
    high: float | None  # null: the run does not support an upper end


class Finding(Record, frozen=True):
    id: str
    severity: Severity
    title: str
    share: float  # of the mean measured step
    evidence: list[str]
    confidence: str
    location: Location | None
    process: Process
    speedup: Speedup
    fix: str
    patch: str | None  # a unified diff against the user's own lines
    trial: str | None
    library: str | None = None  # the library function in which most of it is spent
    source: str | None = None  # the text of the line
    gain: str | None = None  # the speed-up in words: "2.30×", "at least 6×"; null: not about time
    measured: bool = False  # the gain, by `stepscope try`; otherwise it is predicted
    then: str | None = None  # what it still gains when those before it are fixed


class NotJudged(Record, frozen=True):
    id: str
    reason: str


class SlowStep(Record, frozen=True):
    """A step that took far longer than the others, and what happened in it."""

    step: int  # its place among `each`, from 0
    duration_ms: float
    usual_ms: float
    why: str
    number: int = 0  # as in every view: counted from 1, warm-up included


class FindingsAnswer(Record, frozen=True):
    verdict: str
    findings: list[Finding]
    not_judged: list[NotJudged]
    outliers: list[SlowStep] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
