"""The operators of a trace as torch's own tables count them: who is inside whom, and own time."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.trace import ON_DEVICE, Category, Trace

Indices = npt.NDArray[np.int64]

# torch leaves these out of its tables.
_LEFT_OUT: Final = frozenset(
    {
        "[memory]",
        "[OutOfMemory]",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    }
)
_ON_HOST: Final = (Category.OP, Category.ANNOTATION, Category.RUNTIME)


@dataclasses.dataclass(frozen=True, eq=False)
class OpTree:
    """One entry an operator, call into the device's library or named range, by thread and start."""

    trace: Trace
    events: npt.NDArray[Any]
    parent: Indices  # -1: none
    self_ns: Ints
    device_ns: Ints  # of the kernels that it launched itself
    total_device_ns: Ints
    host_bytes: Ints  # allocated minus freed while it ran
    device_bytes: Ints
    self_host_bytes: Ints
    self_device_bytes: Ints
    outside_bytes: Ints  # of memory events while nothing ran: [host, device, how many]

    def __len__(self) -> int:
        return len(self.events)

    @property
    def end_ns(self) -> Ints:
        ends: Ints = self.events["start_ns"] + self.events["duration_ns"]
        return ends


@functools.lru_cache(maxsize=16)
def op_tree(trace: Trace) -> OpTree:
    """1. Sort by thread and start, the longer first; what lies inside another is its child.
    2. An only child of its parent's name is the same call: they become one.
    3. Own time is what the children leave. Kernels belong to the operator that launched them.
    """
    events = _wanted(trace)
    parent, kept = _merged(events, _parents(events))
    events, parent = events[kept], _renumbered(parent, kept)
    duration = events["duration_ns"]
    device_ns = _device_time(trace, events)
    host, device, outside = _memory(trace, events)
    return OpTree(
        trace=trace,
        events=events,
        parent=parent,
        self_ns=duration - _of_children(parent, duration),
        device_ns=device_ns,
        total_device_ns=_with_descendants(parent, device_ns),
        host_bytes=host,
        device_bytes=device,
        self_host_bytes=host - _of_children(parent, host),
        self_device_bytes=device - _of_children(parent, device),
        outside_bytes=outside,
    )


def _wanted(trace: Trace) -> npt.NDArray[Any]:
    left_out = [number for number, name in enumerate(trace.names) if name in _LEFT_OUT]
    events = trace.of(*_ON_HOST)
    events = events[~np.isin(events["name"], left_out)]
    end = events["start_ns"] + events["duration_ns"]
    kept: npt.NDArray[Any] = events[np.lexsort((-end, events["start_ns"], events["thread"]))]
    return kept


def _parents(events: npt.NDArray[Any]) -> list[int]:
    """As torch nests them: what overlaps only in part is nobody's child."""
    starts = events["start_ns"].tolist()
    ends = (events["start_ns"] + events["duration_ns"]).tolist()
    threads = events["thread"].tolist()
    found: list[int] = []
    stack: list[int] = []
    thread = None
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if threads[index] != thread:
            thread, stack = threads[index], []
        while stack and (start >= ends[stack[-1]] or end > ends[stack[-1]]):
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(index)
    return found


def _merged(events: npt.NDArray[Any], parents: list[int]) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """Who is left, and their parents among all."""
    names = events["name"].tolist()
    counted = np.maximum(np.array(parents, np.int64), 0)
    children = np.bincount(counted, minlength=len(parents)).tolist()
    if parents:
        children[0] -= sum(parent < 0 for parent in parents)
    stands_for = list(range(len(parents)))
    for index, above in enumerate(parents):
        parent = stands_for[above] if above >= 0 else -1
        parents[index] = parent
        if parent >= 0 and names[parent] == names[index] and children[parent] == 1:
            stands_for[index] = parent
            children[parent] = children[index]
    own = np.array(stands_for, np.int64) == np.arange(len(parents))
    return np.array(parents, np.int64), own


def _renumbered(parent: Indices, kept: npt.NDArray[np.bool_]) -> Indices:
    number = np.cumsum(kept) - 1
    left = parent[kept]
    return np.where(left >= 0, number[np.maximum(left, 0)], -1)


def _of_children(parent: Indices, values: Ints) -> Ints:
    total = np.zeros(len(parent), np.int64)
    inside = parent >= 0
    np.add.at(total, parent[inside], values[inside])
    return total


def _with_descendants(parent: Indices, values: Ints) -> Ints:
    """Children come after their parents: from the last to the first."""
    total = values.tolist()
    for index, above in reversed(list(enumerate(parent.tolist()))):
        if above >= 0:
            total[above] += total[index]
    return np.array(total, np.int64)


def launched_by(trace: Trace, events: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Indices]:
    """What ran on the device, and the index of the operator that launched it (-1: not known)."""
    device = trace.of(*ON_DEVICE)
    operators = np.flatnonzero((events["category"] == Category.OP) & (events["external"] >= 0))
    if not len(operators) or not len(device):
        return device, np.full(len(device), -1, np.int64)
    order = operators[np.argsort(events["external"][operators], kind="stable")]
    known = events["external"][order]
    at = np.minimum(np.searchsorted(known, device["external"]), len(known) - 1)
    found = (known[at] == device["external"]) & (device["external"] >= 0)
    return device, np.where(found, order[at], -1)


def _device_time(trace: Trace, events: npt.NDArray[Any]) -> Ints:
    device, operator = launched_by(trace, events)
    total = np.zeros(len(events), np.int64)
    known = operator >= 0
    np.add.at(total, operator[known], device["duration_ns"][known])
    return total


def _memory(trace: Trace, events: npt.NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Bytes while each event ran, on its thread; and what happened while none did."""
    host, device = np.zeros(len(events), np.int64), np.zeros(len(events), np.int64)
    outside = np.zeros(3, np.int64)
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    for thread in np.unique(trace.memory["thread"]):
        memory = trace.memory[trace.memory["thread"] == thread]
        memory = memory[np.argsort(memory["at_ns"], kind="stable")]
        here = np.flatnonzero(events["thread"] == thread)
        first = np.searchsorted(memory["at_ns"], start[here], side="left")
        last = np.searchsorted(memory["at_ns"], end[here], side="right")
        for on_device, total in ((False, host), (True, device)):
            sizes = np.where(memory["is_device"] == on_device, memory["bytes"], 0)
            so_far = np.concatenate([[0], np.cumsum(sizes)])
            total[here] = so_far[last] - so_far[first]
        covered = np.zeros(len(memory) + 1, np.int64)
        np.add.at(covered, first, 1)
        np.add.at(covered, last, -1)
        alone = memory[np.cumsum(covered)[:-1] == 0]
        outside += np.array([alone["bytes"][~alone["is_device"]].sum(),
                             alone["bytes"][alone["is_device"]].sum(), len(alone)])  # fmt: skip
    return host, device, outside
