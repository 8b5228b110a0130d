"""What has to be known about each trace before several make one run: whose it is, from when to when
it lasts, and when its collectives end."""

import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.collective_calls import collective_ends
from stepscope.analyze.traces.devices import told_rank
from stepscope.analyze.traces.windows import read_anew
from stepscope.importers.trace import Category, Trace

_RANK: Final = re.compile(r"rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)
_MOST_NS: Final = 2**62


class Survey(msgspec.Struct, frozen=True):
    rank: int | None = None
    pid: int = 0
    start_ns: int = 0
    end_ns: int = 0
    collectives: dict[str, int] = {}  # when each ended
    notes: list[str] = []
    trouble: str | None = None  # why nothing can be read


class Reading(NamedTuple):
    """A file that was read: what is known about it, and what is in it, or why nothing is."""

    survey: Survey
    trace: Trace | str


def reading(path: Path) -> Reading:
    """Wherever it is asked for: here, in another process, on another machine."""
    return reading_of(path, read_anew(path))


def reading_of(path: Path, trace: Trace | str) -> Reading:
    return unread(trace) if isinstance(trace, str) else Reading(_survey(path, trace), trace)


def unread(why: str) -> Reading:
    return Reading(Survey(trouble=why), why)


def _survey(path: Path, trace: Trace) -> Survey:
    start_ns, end_ns = _from_when_to_when(trace)
    return Survey(
        rank=rank_of(path, trace.head),
        pid=_pid(trace),
        start_ns=start_ns,
        end_ns=end_ns,
        collectives=collective_ends(trace),
        notes=trace.notes,
    )


def rank_of(path: Path, head: dict[str, Any]) -> int | None:
    """As the trace says, else as its name does."""
    rank = told_rank(head)
    if rank is not None:
        return rank
    named = _RANK.search(path.name)
    return int(named[1]) if named else None


def _from_when_to_when(trace: Trace) -> tuple[int, int]:
    starts = [trace.events["start_ns"], trace.memory["at_ns"]]
    ends = [trace.events["start_ns"] + trace.events["duration_ns"], trace.memory["at_ns"]]
    if not sum(map(len, starts)):
        return 0, 0
    first, last = int(np.concatenate(starts).min()), int(np.concatenate(ends).max())
    return min(max(0, first), _MOST_NS), min(max(0, last), _MOST_NS)


def _pid(trace: Trace) -> int:
    """The process with the most on the host, where the trace has its number."""
    events: npt.NDArray[Any] = trace.of(Category.OP, Category.ANNOTATION, Category.PYTHON)
    counts = np.bincount(events["thread"], minlength=1)
    for number in np.argsort(-counts).tolist():
        process = trace.threads[number].process if number < len(trace.threads) else ""
        if process.isdecimal() and len(process) < 10:
            return int(process)
    return 0
