"""Steps and what their time goes to, as in torch's TensorBoard plugin.

1. A step is a mark of the profiler, on the host (`ProfilerStep#3`).
2. The host runs ahead of the device: a step lasts until the last kernel is done that it launched,
   and the next one begins then. The first begins when what was launched before it is done.
3. At the end, steps that launched nothing are left out, and a last one that launched less than 80 %
   of what the step before it did: the recording ended in it.
4. Of several kinds of events at one moment, the one that comes first in `CATEGORIES` counts.
"""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import by_order, intervals_of
from stepscope.analyze.traces.launches import calls_of
from stepscope.analyze.traces.marks import LOADERS, STEP, StepNumbers, interval, numbered, ranges
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import ON_DEVICE, Category, Trace

CATEGORIES: Final = (
    "Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other",
)  # fmt: skip
_COMMUNICATION: Final = ("nccl:", "gloo:")
_WHOLE: Final = 0.8  # of the kernels of the step before
_NONE: Final = len(CATEGORIES)  # of events that belong to no category
_OF_CATEGORY: Final = {
    Category.KERNEL: 0,
    Category.MEMCPY: 1,
    Category.MEMSET: 2,
    Category.RUNTIME: 4,
    Category.OP: 6,
    Category.ANNOTATION: 6,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Spans:
    """Steps in Unix ns and in order."""

    start_ns: Ints
    end_ns: Ints
    numbers: StepNumbers

    def __len__(self) -> int:
        return len(self.start_ns)


def step_spans(trace: Trace) -> Spans:
    """The steps that the profiler marks, each until its last kernel is done."""
    marks = ranges(trace, STEP)
    start_ns, end_ns = interval(marks)
    number = np.array([_number(trace.names[name]) for name in marks["name"].tolist()], np.int64)
    device = trace.of(*ON_DEVICE)
    if len(marks) and len(device):
        start_ns, end_ns = _with_kernels(trace, device, start_ns, end_ns)
    kept = len(start_ns)
    return Spans(start_ns, end_ns, numbered(number[:kept]))


def _number(name: str) -> int:
    text = name[len(STEP) :]
    return int(text) if text.isdecimal() and len(text) < 19 else -1


def _with_kernels(
    trace: Trace, device: npt.NDArray[Any], start_ns: Ints, end_ns: Ints
) -> tuple[Ints, Ints]:
    step = _launched_in(trace, device, start_ns, end_ns)
    if not (step >= 0).any():
        return start_ns, end_ns
    ended = device["start_ns"] + device["duration_ns"]
    launched = np.bincount(step[step >= 0], minlength=len(start_ns))
    last_ns = np.zeros(len(start_ns), np.int64)  # 0: launched nothing
    np.maximum.at(last_ns, step[step >= 0], ended[step >= 0])
    begin_ns = max(int(start_ns[0]), _ended_before(device, ended, step))
    starts, ends = [], []
    marks = zip(start_ns.tolist(), end_ns.tolist(), last_ns.tolist(), strict=True)
    for start, end, until_ns in marks:
        begin_ns = max(begin_ns, start)
        starts.append(begin_ns)
        begin_ns = max(end, until_ns, begin_ns)
        ends.append(begin_ns)
    kept = _whole_steps(launched.tolist())
    return np.array(starts[:kept], np.int64), np.array(ends[:kept], np.int64)


def _launched_in(trace: Trace, device: npt.NDArray[Any], start_ns: Ints, end_ns: Ints) -> Ints:
    """The step in which the call lies that launched each, -1: none. In a trace without such calls,
    the step in which each began."""
    call = calls_of(trace, device)
    begun_ns, done_ns, is_known = call.start_ns, call.end_ns, call.is_known
    if not is_known.any():
        begun_ns = done_ns = device["start_ns"]
        is_known = np.ones(len(device), np.bool_)
    step = np.searchsorted(start_ns, begun_ns, side="right") - 1
    inside = is_known & (step >= 0) & (done_ns <= end_ns[np.maximum(step, 0)])
    return np.where(inside, step, -1)


def _ended_before(device: npt.NDArray[Any], ended: Ints, step: Ints) -> int:
    """When the last thing was done that no step launched, before the first step's own."""
    first = device["start_ns"][step == 0]
    if not len(first):
        return 0
    earlier = (step < 0) & (ended < first.min())
    return int(ended[earlier].max(initial=0))


def _whole_steps(launched: list[int]) -> int:
    kept = len(launched)
    while kept > 1 and not launched[kept - 1]:
        kept -= 1
    if kept > 1 and launched[kept - 1] < _WHOLE * launched[kept - 2]:
        kept -= 1
    return kept


# --- what their time goes to ----------------------------------------------------------------------


def categories_by_step(trace: Trace, spans: Spans) -> npt.NDArray[np.int64]:
    """Steps x CATEGORIES: the rows sum to the steps."""
    events = trace.of(*_OF_CATEGORY)
    kind = _kinds(trace, events)
    events, kind = events[kind < _NONE], kind[kind < _NONE]
    begin, stop = events["start_ns"], events["start_ns"] + events["duration_ns"]
    table = by_order(kind, intervals_of(begin, stop), (spans.start_ns, spans.end_ns), _NONE)
    table[:, -1] = spans.end_ns - spans.start_ns - table[:, :-1].sum(axis=1)
    return table


def _kinds(trace: Trace, events: npt.NDArray[Any]) -> Ints:
    table = np.full(256, _NONE, np.int64)
    for category, number in _OF_CATEGORY.items():
        table[category] = number
    kind: Ints = table[events["category"]]
    on_host = kind == CATEGORIES.index("CPU Exec")
    for beginnings, on, number in (
        (LOADERS, on_host, CATEGORIES.index("DataLoader")),
        (_COMMUNICATION, on_host, CATEGORIES.index("Communication")),
        ((STEP,), on_host, _NONE),
    ):
        kind[on & _named(trace, events, beginnings)] = number
    talks = np.array([is_collective(name) for name in trace.names] or [False], np.bool_)
    kind[(kind == 0) & talks[events["name"]]] = CATEGORIES.index("Communication")
    return kind


def _named(
    trace: Trace, events: npt.NDArray[Any], beginnings: tuple[str, ...]
) -> npt.NDArray[np.bool_]:
    wanted = np.array([name.startswith(beginnings) for name in trace.names] or [False], np.bool_)
    found: npt.NDArray[np.bool_] = wanted[events["name"]]
    return found
