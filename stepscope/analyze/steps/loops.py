"""Loops as they were stamped: which stamps belong to one entry, and what lies inside what."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.steps.loop_headers import body_line, header_line
from stepscope.clock import Ints
from stepscope.store.events import LoopStamps
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import LoopName, Names

Mask = npt.NDArray[np.bool_]

# They have a new activation each time they resume, so activations do not separate their entries.
_SUSPENDABLE: Final = ("generator", "coroutine", "async generator")
_GENERATORS: Final = ("generator", "async generator")
_MOST_LOOPS: Final = 64  # how many of a thread's loops are considered, by the time they hold


@dataclasses.dataclass(frozen=True, eq=False)
class Loop:
    """One loop on one thread: its stamps in order, and where its entries and turns begin.

    A turn runs from a stamp to the next one of the same entry; the last stamp of an entry (of a
    `for` that ran out, or of a turn that was left) begins an open turn.
    """

    name: LoopName
    thread: int
    kind: str  # of its code: "function", "generator", ...
    at_ns: Ints
    activation: npt.NDArray[np.uint64]
    begins_entry: Mask
    is_unsure: Mask  # the line before is not known: the code was thinned out

    @functools.cached_property
    def turn_starts(self) -> npt.NDArray[np.intp]:
        """Indices of the stamps that begin a closed turn."""
        return np.flatnonzero(~self.begins_entry[1:])

    @functools.cached_property
    def open_starts(self) -> npt.NDArray[np.intp]:
        """Indices of the stamps that end an entry."""
        return np.flatnonzero(np.append(self.begins_entry[1:], True))

    @functools.cached_property
    def start_ns(self) -> Ints:
        return self.at_ns[self.turn_starts]

    @functools.cached_property
    def end_ns(self) -> Ints:
        return self.at_ns[self.turn_starts + 1]

    @functools.cached_property
    def duration_ns(self) -> Ints:
        return self.end_ns - self.start_ns

    @functools.cached_property
    def total_ns(self) -> int:
        return int(self.duration_ns.sum())

    @functools.cached_property
    def entry_starts(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.begins_entry)

    @functools.cached_property
    def turns(self) -> npt.NDArray[np.intp]:
        """Closed turns of each entry."""
        return self.open_starts - self.entry_starts


def read_loops(run: Run, process: ProcessData) -> list[Loop]:
    """Every loop on every thread, those that hold the most time first."""
    stamps = process.loop_stamps
    stamps = stamps[np.isin(stamps.name, list(process.names.loops))]
    if not len(stamps):
        return []
    key = stamps.thread.astype(np.uint64) << np.uint64(32) | stamps.name
    activation = np.where(_is_suspendable(stamps.name, process.names), 0, stamps.activation)
    at_ns = stamps.at_ns
    order = np.lexsort((at_ns, activation, key))
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    groups = np.split(order, cuts)
    loops = [
        _make_loop(run, process, stamps[group], at_ns[group], activation[group]) for group in groups
    ]
    loops = _cut_where_the_parent_turned(loops)
    return sorted(loops, key=lambda loop: -loop.total_ns)


def _is_suspendable(loop_ids: npt.NDArray[Any], names: Names) -> Mask:
    ids = [loop.id for loop in names.loops.values() if _kind(names, loop) in _SUSPENDABLE]
    return np.isin(loop_ids, ids)


def _kind(names: Names, loop: LoopName) -> str:
    code = names.codes.get(loop.code)
    return code.kind if code else "function"


def _make_loop(
    run: Run,
    process: ProcessData,
    stamps: LoopStamps,
    at_ns: Ints,
    grouped_by: npt.NDArray[np.uint64],
) -> Loop:
    name = process.names.loops[int(stamps.name[0])]
    before = stamps.line_before
    # A header over several lines is reached a second time before the first turn: that time counts.
    in_header = (before > name.line) & (before < body_line(run, process, name))
    again = np.append(in_header[1:] & (grouped_by[1:] == grouped_by[:-1]), False)
    outside = (before < name.line) | (before > name.last_line) | in_header
    # Line 0 before a later stamp: the code was thinned out, and the line before is not known. And
    # `while True:` itself comes before its body's first line, on entry and at every turn.
    header = header_line(run, process, name)
    is_unsure = (before == 0) | ((before == header) & (header < name.line))
    begins = outside & ~is_unsure
    begins[0] = True
    begins[1:] |= grouped_by[1:] != grouped_by[:-1]
    kept = ~again
    return Loop(
        name=name,
        thread=int(stamps.thread[0]),
        kind=_kind(process.names, name),
        at_ns=at_ns[kept],
        activation=stamps.activation[kept],
        begins_entry=begins[kept],
        is_unsure=is_unsure[kept],
    )


def _cut_where_the_parent_turned(loops: list[Loop]) -> list[Loop]:
    """Separates entries if the line before does not: a turn never spans a stamp of the loop around
    it."""
    by_id = {(loop.thread, loop.name.id): loop for loop in loops}
    cut = []
    for loop in loops:
        around = by_id.get((loop.thread, loop.name.parent or 0))
        if around is not None and loop.is_unsure.any():
            passed = np.searchsorted(np.sort(around.at_ns), loop.at_ns)
            begins = loop.begins_entry.copy()
            begins[1:] |= loop.is_unsure[1:] & (passed[1:] != passed[:-1])
            loop = dataclasses.replace(loop, begins_entry=begins)
        cut.append(loop)
    return cut


def enclosing(loops: list[Loop]) -> dict[Loop, Loop | None]:
    """The innermost loop around each loop of one thread, by time: functions in between do not hide
    it. Loops in generators that yield their items are left out: see `is_suspended`."""
    running = [loop for loop in loops[:_MOST_LOOPS] if loop.total_ns > 0]
    running = [loop for loop in running if not is_suspended(loop, running)]
    around: dict[Loop, Loop | None] = {}
    for inner in running:
        outers = [outer for outer in running if _lies_in(inner, outer) and outer is not inner]
        outers = [outer for outer in outers if not _leads_to(around, outer, inner)]
        around[inner] = min(outers, key=lambda outer: outer.total_ns, default=None)
    return around


def ancestors(around: dict[Loop, Loop | None], loop: Loop) -> list[Loop]:
    """The loops around it, innermost first."""
    found: list[Loop] = []
    outer = around.get(loop)
    while outer is not None:
        found.append(outer)
        outer = around.get(outer)
    return found


def _lies_in(inner: Loop, outer: Loop) -> bool:
    """Whether most of the inner loop's time is in entries that begin inside a turn of the outer."""
    if inner.total_ns > 1.1 * outer.total_ns:
        return False
    spent = inner.at_ns[inner.open_starts] - inner.at_ns[inner.entry_starts]
    begin = inner.at_ns[inner.entry_starts]
    order = np.argsort(outer.start_ns)
    starts, ends = outer.start_ns[order], outer.end_ns[order]
    index = np.searchsorted(starts, begin, side="right") - 1
    inside = (index >= 0) & (begin < ends[index]) & (begin != starts[index])
    return bool(2 * spent[inside].sum() > spent.sum())


def _leads_to(around: dict[Loop, Loop | None], loop: Loop | None, wanted: Loop) -> bool:
    while loop is not None:
        if loop is wanted:
            return True
        loop = around.get(loop)
    return False


def is_suspended(loop: Loop, others: list[Loop]) -> bool:
    """A generator's loop whose turns wait for the consumer's loop.

    A loop further down the call stack cannot turn while one above it runs: if an older activation's
    loop is stamped within most of the turns, this one was suspended meanwhile.
    """
    if loop.kind not in _GENERATORS:
        return False
    starts, ends = loop.start_ns, loop.end_ns
    entered = loop.activation[loop.turn_starts]
    for other in others:
        if other is loop:
            continue
        order = np.argsort(other.at_ns)
        at_ns, activation = other.at_ns[order], other.activation[order]
        index = np.searchsorted(at_ns, starts, side="right")
        found = np.minimum(index, len(at_ns) - 1)
        within = (index < len(at_ns)) & (at_ns[found] < ends) & (activation[found] < entered)
        if 2 * within.sum() > len(starts):
            return True
    return False
