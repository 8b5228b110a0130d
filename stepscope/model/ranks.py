"""What `show ranks` answers. Times are means over the measured steps; null if there are none."""

from typing import Literal

import msgspec

from stepscope.model import Location, Record


class RankRow(Record, frozen=True):
    """step = own + communication; waiting is a part of communication, input of its own time.
    Without steps, that is all of a trace."""

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


# --- from traces of a device ---------------------------------------------------------------------


class ArrivalRow(Record, frozen=True):
    """What a rank does before the collectives. Times are sums over those that ranks have in common;
    compute, input and host are what it spends on them, since the collective before."""

    rank: int
    last: int  # collectives that it came last to
    held_ms: float  # how long it held up the next-to-last rank there
    waiting_ms: float  # for the last rank
    compute_ms: float  # something else ran on its device
    input_ms: float  # its device was idle, and the host waited for a batch
    host_ms: float  # its device was idle, and the host did something else
    why: Literal["compute", "input", "host"] | None  # spent more than the others; null: never last


class CollectiveRow(Record, frozen=True):
    """Collectives of one kind and size in one process group. The algorithm's bandwidth is bytes by
    time; the bus's is what a link has to carry for that, as nccl-tests computes it."""

    name: str
    group: str | None  # null: the trace does not say
    group_size: int | None
    size_bytes: int | None  # of a message
    calls: int
    total_ms: float  # on the device of the rank that has most of it
    skew_ms: float | None  # of a call: from the first arrival to the last; null: one rank only
    transfer_ms: float | None  # of a call: from the last arrival on
    algorithm_bytes_per_s: float | None
    bus_bytes_per_s: float | None
    last_rank: int | None  # that most often comes last


class GroupRow(Record, frozen=True):
    group: str
    ranks: str  # as the trace names them
    calls: int
    total_ms: float
    size_bytes: int


class TracedRanks(Record, frozen=True):
    """From the traces of devices, one per rank."""

    arrivals: list[ArrivalRow]
    collectives: list[CollectiveRow]
    groups: list[GroupRow]
    matched: int  # collectives that were found on all ranks
    imbalance: float | None  # the most compute time of a rank, by the mean; null: one rank only


class RanksAnswer(Record, frozen=True):
    ranks: list[RankRow]
    straggler: Straggler | None
    skew_ms: float | None  # the mean of the longest wait in a step
    expected: int | None = None  # how many the launcher was to start
    reason: str | None = None
    samples_per_s: float | None = None  # of all ranks together; null if one does not report them
    notes: list[str] = msgspec.field(default_factory=list)
    traced: TracedRanks | None = None
