"""Named ranges of the script and its libraries: their time on host and device, and the kernels that
were launched inside them."""

import collections
import dataclasses
import re
from typing import Final

import numpy as np

from stepscope.analyze.traces.devices import Table, Work
from stepscope.analyze.traces.nesting import Indices, parents
from stepscope.clock import Ints
from stepscope.importers.trace import Category
from stepscope.model.device import AnnotationRow

_NUMBER: Final = re.compile(r"[#_ ]*\d+$")  # ProfilerStep#12
_MOST_ROWS: Final = 50


@dataclasses.dataclass
class _Row:
    calls: int = 0
    host_ns: int = 0
    device_ns: int = 0
    kernels: int = 0
    kernel_ns: int = 0


def annotations(works: list[Work]) -> list[AnnotationRow]:
    """The most kernel time first. A range inside another is part of both."""
    rows: dict[str, _Row] = collections.defaultdict(_Row)
    for work in works:
        _add_host(rows, work)
        _add_device(rows, work)
    answers = [AnnotationRow(name=name, **dataclasses.asdict(row)) for name, row in rows.items()]
    answers.sort(key=lambda row: (-row.kernel_ns, -row.device_ns, -row.host_ns, row.name))
    return answers[:_MOST_ROWS]


def _shown(name: str) -> str:
    return _NUMBER.sub("", name) or name


def _add_host(rows: dict[str, _Row], work: Work) -> None:
    ranges = work.trace.of(Category.ANNOTATION)
    ranges = ranges[np.lexsort((-ranges["duration_ns"], ranges["start_ns"], ranges["thread"]))]
    start = ranges["start_ns"]
    end = start + ranges["duration_ns"]
    parent = parents(ranges["thread"], start, end)
    kernels, kernel_ns = _launched_in(work, ranges, end, parent)
    columns = ranges["name"].tolist(), ranges["duration_ns"].tolist()
    shown = [_shown(work.trace.names[name]) for name in columns[0]]
    for index, (name, lasted) in enumerate(zip(shown, columns[1], strict=True)):
        row = rows[name]
        row.calls += 1
        if not _is_inside_its_own(index, shown, parent):
            row.host_ns += lasted
            row.kernels += int(kernels[index])
            row.kernel_ns += int(kernel_ns[index])


def _is_inside_its_own(index: int, shown: list[str], parent: Indices) -> bool:
    above = int(parent[index])
    while above >= 0:
        if shown[above] == shown[index]:
            return True
        above = int(parent[above])
    return False


def _launched_in(work: Work, ranges: Table, end: Ints, parent: Indices) -> tuple[Ints, Ints]:
    """How many kernels were launched inside each range, on its thread, and their time."""
    count, total = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    known = work.call >= 0
    lasted = work.events["duration_ns"][known]
    called_by, called_ns = (work.calls[name][work.call[known]] for name in ("thread", "start_ns"))
    of_thread, begin_ns = ranges["thread"], ranges["start_ns"]
    for thread in np.unique(of_thread):
        entries, here = np.flatnonzero(of_thread == thread), np.flatnonzero(called_by == thread)
        at = np.searchsorted(begin_ns[entries], called_ns[here], side="right") - 1
        here, entry = here[at >= 0], entries[at[at >= 0]]
        while len(entry):  # one level up each time
            inside = end[entry] >= called_ns[here]
            np.add.at(count, entry[inside], 1)
            np.add.at(total, entry[inside], lasted[here[inside]])
            above = parent[entry]
            here, entry = here[above >= 0], above[above >= 0]
    return count, total


def _add_device(rows: dict[str, _Row], work: Work) -> None:
    ranges = work.trace.of(Category.DEVICE_ANNOTATION)
    for name in np.unique(ranges["name"]).tolist():
        here = ranges["name"] == name
        rows[_shown(work.trace.names[name])].device_ns += int(ranges["duration_ns"][here].sum())
