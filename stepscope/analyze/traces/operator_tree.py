"""The operators of a trace as torch's own tables count them: their nesting and own time."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.launches import calls_of, operators_of
from stepscope.analyze.traces.nesting import Indices, parents, stand_ins, with_descendants
from stepscope.clock import Ints
from stepscope.importers.trace import ON_DEVICE, Category, Trace

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
    """One entry per operator, call into the device library or named range, by thread and start."""

    trace: Trace
    events: npt.NDArray[Any]
    parent: Indices  # -1: none
    launcher: Indices  # of each event of `device`, the operator that launched it; -1: not known
    self_ns: Ints
    device_ns: Ints  # of the kernels that it launched itself
    total_device_ns: Ints
    host_bytes: Ints  # allocated minus freed while it ran
    self_host_bytes: Ints
    self_device_bytes: Ints
    outside_bytes: Ints  # of memory events while nothing ran: [host, device, how many]

    def __len__(self) -> int:
        return len(self.events)

    @property
    def device(self) -> npt.NDArray[Any]:
        """What ran on the device."""
        return self.trace.of(*ON_DEVICE)

    @property
    def end_ns(self) -> Ints:
        ends: Ints = self.events["start_ns"] + self.events["duration_ns"]
        return ends


@functools.lru_cache(maxsize=16)
def op_tree(trace: Trace) -> OpTree:
    """1. Sort by thread and start, the longer first; what lies inside another is its child.
    2. An only child with its parent's name is the same call: they become one.
    3. Own time is what the children leave. Kernels belong to the operator that launched them.
    """
    wanted = _wanted(trace)
    events, parent, number = _merged(trace, wanted)
    duration = events["duration_ns"]
    launcher, device_ns = _launched(trace, wanted, number, len(events))
    host, device, outside = _memory(trace, events)
    return OpTree(
        trace=trace,
        events=events,
        parent=parent,
        launcher=launcher,
        self_ns=duration - _of_children(parent, duration),
        device_ns=device_ns,
        total_device_ns=with_descendants(parent, device_ns),
        host_bytes=host,
        self_host_bytes=host - _of_children(parent, host) if trace.has_memory else host,
        self_device_bytes=device - _of_children(parent, device) if trace.has_memory else device,
        outside_bytes=outside,
    )


def _wanted(trace: Trace) -> Indices:
    """By thread and start, the longer first."""
    left_out = [number for number, name in enumerate(trace.names) if name in _LEFT_OUT]
    found = np.flatnonzero(trace.is_of(*_ON_HOST) & ~np.isin(trace.events["name"], left_out))
    thread, start_ns, duration_ns = (
        trace.events[name][found] for name in ("thread", "start_ns", "duration_ns")
    )
    return found[np.lexsort((-(start_ns + duration_ns), start_ns, thread))]


def _merged(trace: Trace, wanted: Indices) -> tuple[npt.NDArray[Any], Indices, Indices]:
    """The events that are left, their parents, and which of them each wanted one is counted as.
    Whole events are copied only once: each has some 90 bytes."""
    thread, start_ns, duration_ns, name = (
        trace.events[column][wanted] for column in ("thread", "start_ns", "duration_ns", "name")
    )
    parent = parents(thread, start_ns, start_ns + duration_ns)
    counted_as = stand_ins(parent, name)
    is_left = counted_as == np.arange(len(wanted))
    number = np.append(np.cumsum(is_left) - 1, -1)  # -1: none, is the last
    above = parent[is_left]
    left = np.where(above >= 0, counted_as[above], -1)
    return trace.events[wanted[is_left]], number[left], number[counted_as]


def _of_children(parent: Indices, values: Ints) -> Ints:
    total = np.zeros(len(parent), np.int64)
    inside = parent >= 0
    np.add.at(total, parent[inside], values[inside])
    return total


def _launched(trace: Trace, wanted: Indices, number: Indices, count: int) -> tuple[Indices, Ints]:
    """The operator of each of the device's events, and how long those of each operator ran."""
    device = trace.of(*ON_DEVICE)
    operators = np.flatnonzero(trace.events["category"][wanted] == Category.OP)
    found = operators_of(trace, device, trace.events[wanted[operators]])
    launcher = np.where(found >= 0, number[operators[found]] if len(operators) else -1, -1)
    total = np.zeros(count, np.int64)
    known = launcher >= 0
    np.add.at(total, launcher[known], device["duration_ns"][known])
    return launcher, total


def without_launch(tree: OpTree) -> list[str]:
    """A note if the trace does not have the calls that launched some of the device's events."""
    device = tree.device
    if not (device["correlation"] >= 0).any():  # this format does not say what launched them
        return []
    missing = ~calls_of(tree.trace, device).is_known & (tree.launcher < 0)
    if not missing.any():
        return []
    lasted_ms = int(device["duration_ns"][missing].sum()) / 1e6
    return [
        f"{tree.trace.path.name}: {int(missing.sum()):,} of {len(device):,} kernels and copies "
        f"({lasted_ms:,.1f} ms) were launched by calls that are not in the trace: they are "
        "counted, but belong to no operator."
    ]


def _memory(trace: Trace, events: npt.NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Bytes while each event ran, on its thread; and what happened while none did."""
    if not trace.has_memory:  # most traces: one zero for all
        none = np.broadcast_to(np.int64(0), len(events))
        return none, none, np.zeros(3, np.int64)
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
