"""Kernels that follow each other again and again, and that one fused kernel could replace.

1. On each stream, matrix products, convolutions, attention, collectives and copies end a stretch: a
   compiler leaves those alone.
2. In the stretches, every run of 2 to 8 kernels counts, by names, without overlapping itself.
3. The run that saves the most launches is taken, then the best of what is left, and so on.
"""

import collections
import dataclasses
import re
from typing import Final

import numpy as np

from stepscope.analyze.traces.devices import Work
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category
from stepscope.model.device import SequenceRow

_LENGTHS: Final = range(2, 9)
_FEWEST: Final = 3  # times
_MOST_ROWS: Final = 5
_MOST_KERNELS: Final = 20_000  # of the first: more say the same
_WHOLE: Final = re.compile(
    r"gemm|conv|cudnn|miopen|Cijk_|matmul|wgrad|dgrad|xmma|cutlass|flash|fmha|attention|triton_",
    re.I,
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Stream:
    """Its kernels in order; a name of -1 ends a stretch."""

    name: list[int]
    start_ns: list[int]
    end_ns: list[int]


def sequences(works: list[Work]) -> list[SequenceRow]:
    """Of the first window."""
    work = works[0]
    streams = [_stream(work, number) for number in np.unique(work.events["stream"]).tolist()]
    taken = [[each < 0 for each in stream.name] for stream in streams]
    found: list[SequenceRow] = []
    while len(found) < _MOST_ROWS:
        best = _best(streams, taken)
        if best is None:
            break
        found.append(_take(work, streams, taken, best))
    return found


def _stream(work: Work, number: int) -> _Stream:
    here = work.events[work.events["stream"] == number][:_MOST_KERNELS]
    is_whole = np.array(
        [_WHOLE.search(name) is not None or is_collective(name) for name in work.trace.names]
    )
    ends = (here["category"] != Category.KERNEL) | is_whole[here["name"]]
    return _Stream(
        np.where(ends, -1, here["name"]).tolist(), here["start_ns"].tolist(),
        (here["start_ns"] + here["duration_ns"]).tolist(),
    )  # fmt: skip


def _best(streams: list[_Stream], taken: list[list[bool]]) -> tuple[int, ...] | None:
    """The run of names that saves the most launches."""
    count: collections.Counter[tuple[int, ...]] = collections.Counter()
    for stream, is_taken in zip(streams, taken, strict=True):
        free_until: dict[tuple[int, ...], int] = {}
        for at, until in _free(is_taken):
            for length in _LENGTHS:
                if at + length > until:
                    break
                run = tuple(stream.name[at : at + length])
                if at >= free_until.get(run, 0) and not _repeats(run):
                    count[run] += 1
                    free_until[run] = at + length
    worth = {run: times * (len(run) - 1) for run, times in count.items() if times >= _FEWEST}
    return max(worth, key=lambda run: (worth[run], -len(run)), default=None)


def _free(is_taken: list[bool]) -> list[tuple[int, int]]:
    """(place, end of its stretch) of each kernel that is not taken."""
    until, found = len(is_taken), []
    for at in range(len(is_taken) - 1, -1, -1):
        if is_taken[at]:
            until = at
        else:
            found.append((at, until))
    return found[::-1]


def _repeats(run: tuple[int, ...]) -> bool:
    """Whether it is a shorter run several times."""
    return any(
        len(run) % length == 0 and run == run[:length] * (len(run) // length)
        for length in range(1, len(run) // 2 + 1)
    )


def _take(
    work: Work, streams: list[_Stream], taken: list[list[bool]], run: tuple[int, ...]
) -> SequenceRow:
    times = total = gap = 0
    for stream, is_taken in zip(streams, taken, strict=True):
        at = 0
        while at + len(run) <= len(stream.name):
            last = at + len(run)
            if any(is_taken[at:last]) or tuple(stream.name[at:last]) != run:
                at += 1
                continue
            is_taken[at:last] = [True] * len(run)
            ran = sum(stream.end_ns[each] - stream.start_ns[each] for each in range(at, last))
            times, total = times + 1, total + ran
            gap += max(0, stream.end_ns[last - 1] - stream.start_ns[at] - ran)
            at = last
    return SequenceRow(
        kernels=[work.trace.names[each] for each in run], times=times, total_ns=total, gap_ns=gap,
        launches_saved=times * (len(run) - 1),
    )  # fmt: skip
