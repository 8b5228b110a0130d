"""What `show ranks` answers. Times are means by measured step; null where there are no such."""

import msgspec

from stepscope.model import Location, Record


class RankRow(Record, frozen=True):
    """step = own + communication; waiting is a part of communication, input of its own time."""

    rank: int
    host: str
    pid: int
    steps: int
    step_ms: float | None
    own_ms: float | None
    communication_ms: float | None
    waiting_ms: float | None  # for ranks that came later; null where no collective was seen
    input_ms: float | None
    status: str


class Straggler(Record, frozen=True):
    """The rank that the others wait for."""

    rank: int
    why: str
    location: Location | None
    cost_ms: float  # by which it holds up each step
    source: str | None = None  # the text of that line


class RanksAnswer(Record, frozen=True):
    ranks: list[RankRow]
    straggler: Straggler | None
    skew_ms: float | None  # how long the rank that waits most waits in a step, mean
    expected: int | None = None  # how many the launcher was to start
    reason: str | None = None
    samples_per_s: float | None = None  # of all ranks together; null where one does not tell
    notes: list[str] = msgspec.field(default_factory=list)
