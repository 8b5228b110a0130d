"""What `show ranks` answers. Times are means over the measured steps; null if there are none."""

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
    waiting_ms: float | None  # for ranks that came later; null if no collective was seen
    input_ms: float | None
    status: str
    transfer_ms: float | None  # communication that is not waiting


class Straggler(Record, frozen=True):
    """The rank that the others wait for."""

    rank: int
    why: str
    location: Location | None
    cost_ms: float  # how long it holds up each step
    source: str | None = None  # the text of that line

    @property
    def sentence(self) -> str:
        return f"The others wait for rank {self.rank}: {self.why}."


class RanksAnswer(Record, frozen=True):
    ranks: list[RankRow]
    straggler: Straggler | None
    skew_ms: float | None  # the mean of the longest wait in a step
    expected: int | None = None  # how many the launcher was to start
    reason: str | None = None
    samples_per_s: float | None = None  # of all ranks together; null if one does not report them
    notes: list[str] = msgspec.field(default_factory=list)
