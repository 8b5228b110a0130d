"""Steps that a framework tells: its own batches, else the first optimizer that steps twice, else
the first compiled function that updates weights and is called twice.

A step runs from one anchor's end to the next one's, so evaluation and saving between two of them
belong to the later one.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of, union
from stepscope.analyze.jax_steps import with_first_calls
from stepscope.analyze.loops import Loop, Mask, enclosing
from stepscope.clock import Ints
from stepscope.store.format import EventKind, ForwardFlag, SpanCategory, StepMark
from stepscope.store.reader import ProcessData

_FEW_TURNS: Final = 8
_BEGINNERS: Final = (
    SpanCategory.INPUT,
    SpanCategory.FORWARD,
    SpanCategory.TRANSFER,
    SpanCategory.COMPUTE,
    SpanCategory.BACKWARD,
)
_UPDATES: Final = np.uint64(1)  # in value1 of a COMPUTE span


@dataclasses.dataclass(frozen=True, eq=False)
class Anchors:
    """Where steps end, in order of time."""

    end_ns: Ints
    thread: int
    what: str  # "Adam.step()", "batches of Lightning"
    loop: Loop | None  # the innermost loop that turns once a step


def find_anchors(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    return (
        _batches(process, loops)
        or _optimizer_steps(process, loops)
        or _compiled_steps(process, loops)
    )


def _batches(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    marks = process.of_kind(EventKind.STEP)
    marks = _on_busiest_thread(marks[marks["extra"] == StepMark.FRAMEWORK])
    if not len(marks):
        return None
    end_ns = np.sort(process.clock.ns(marks["start"]))
    name = _name(process, marks, "the framework")
    thread = int(marks["thread"][0])
    return Anchors(end_ns, thread, f"batches of {name}", loop_of_ends(end_ns, loops, thread))


def _optimizer_steps(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    spans = process.of_kind(EventKind.SPAN)
    is_step = (spans["extra"] == SpanCategory.OPTIMIZER) & (spans["value0"] > 0)
    calls = _calls(process, spans[is_step & (spans["end"] > spans["start"])])
    if calls is None:
        return None
    loop = loop_of_ends(calls.anchor_ns, loops, calls.thread)
    around = _larger_step(loop, loops, calls.end_ns[~calls.is_anchor])
    name = _name(process, calls.anchors, "optimizer")
    what = f"{name}()" if "." in name else f"{name}.step()"  # a function, or an optimizer's class
    return calls.as_steps(what, loop, around)


def _compiled_steps(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    """Of functions that do the passes and the update in one; those that are known to update count,
    where there are such."""
    spans = with_first_calls(process.of_kind(EventKind.SPAN))
    is_one = (spans["extra"] == SpanCategory.COMPUTE) & (spans["value0"] > 0)
    spans = spans[is_one & (spans["end"] > spans["start"])]
    updates = (spans["value1"] & _UPDATES) > 0
    calls = _calls(process, spans[updates] if updates.any() else spans)
    if calls is None:
        return None
    loop = loop_of_ends(calls.anchor_ns, loops, calls.thread)
    around = _loop_with_all(calls, loops) if loop is None else None
    name = _name(process, calls.anchors, "function")
    return calls.as_steps(name if name.endswith(")") else f"{name}()", loop, around)


class _Calls(NamedTuple):
    """Of optimizers or functions, in the order of their ends; the first that is called twice makes
    the steps."""

    spans: npt.NDArray[Any]
    end_ns: Ints
    is_anchor: npt.NDArray[np.bool_]

    @property
    def thread(self) -> int:
        return int(self.spans["thread"][0])

    @property
    def anchors(self) -> npt.NDArray[Any]:
        return self.spans[self.is_anchor]

    @property
    def anchor_ns(self) -> Ints:
        return self.end_ns[self.is_anchor]

    def as_steps(self, what: str, loop: Loop | None, around: Loop | None) -> Anchors:
        """`around`: a loop whose turns have several of these calls each, and are the steps."""
        if around is None:
            return Anchors(self.anchor_ns, self.thread, what, loop)
        return Anchors(_last_of_each_turn(self.end_ns, around), self.thread, what, around)


def _calls(process: ProcessData, spans: npt.NDArray[Any]) -> _Calls | None:
    spans = _on_busiest_thread(spans)
    spans = spans[np.argsort(spans["end"], kind="stable")]
    number = _first_that_steps_twice(spans["value0"])
    if number is None:
        return None
    return _Calls(spans, process.clock.ns(spans["end"]), spans["value0"] == number)


def _loop_with_all(calls: _Calls, loops: Sequence[Loop]) -> Loop | None:
    """A discriminator that is trained twice and then the generator, in one body, are one step: the
    innermost loop in each of whose turns each of several functions is called equally often."""
    numbers = calls.spans["value0"]
    several = np.unique(numbers)
    best = None
    for loop in loops if len(several) > 1 else ():
        turn = np.searchsorted(np.sort(loop.at_ns), calls.end_ns)
        counts = [np.bincount(turn[numbers == number]) for number in several]
        used = [each[each > 0] for each in counts]
        is_even = all(each.min() == each.max() for each in used)
        fits = is_even and len({len(each) for each in used}) == 1 and len(used[0]) > 1
        if loop.thread == calls.thread and fits and (best is None or loop.total_ns < best.total_ns):
            best = loop
    return best


def _name(process: ProcessData, events: npt.NDArray[Any], unknown: str) -> str:
    name = process.names.spans.get(int(events["name"][0]))
    return name.name if name else unknown


def _on_busiest_thread(events: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not len(events):
        return events
    threads, counts = np.unique(events["thread"], return_counts=True)
    kept: npt.NDArray[Any] = events[events["thread"] == threads[np.argmax(counts)]]
    return kept


def _first_that_steps_twice(numbers: npt.NDArray[np.uint64]) -> int | None:
    seen: set[int] = set()
    for number in numbers.tolist():
        if number in seen:
            return int(number)
        seen.add(number)
    return None


def loop_of_ends(end_ns: Ints, loops: Sequence[Loop], thread: int) -> Loop | None:
    """The innermost loop that turns once for a step's end."""
    best = None
    for loop in loops:
        if loop.thread != thread:
            continue
        stamps = np.sort(loop.at_ns)
        turn = np.searchsorted(stamps, end_ns)
        distinct = len(np.unique(turn[turn > 0]))
        fits = distinct >= 0.9 * len(end_ns) and len(stamps) <= 2 * len(end_ns) + 1
        if fits and (best is None or loop.total_ns < best.total_ns):
            best = loop
    return best


def _larger_step(loop: Loop | None, loops: Sequence[Loop], others_ns: Ints) -> Loop | None:
    """Five updates of a critic in a loop of their own and then one of the generator are one step:
    that of the loop around, where the other optimizer steps."""
    if loop is None or not len(others_ns) or len(loop.turns) < 2:
        return None
    turns = loop.turns
    if turns.min() != turns.max() or not 1 < turns[0] <= _FEW_TURNS:
        return None
    around = enclosing([other for other in loops if other.thread == loop.thread]).get(loop)
    if around is None:
        return None
    entered, left = loop.at_ns[loop.entry_starts], loop.at_ns[loop.open_starts]
    inside = step_of(others_ns, entered, left) >= 0
    return None if inside.any() else around


def _last_of_each_turn(ends_ns: Ints, loop: Loop) -> Ints:
    turn = np.searchsorted(np.sort(loop.at_ns), ends_ns)
    is_last: Mask = np.append(turn[1:] != turn[:-1], True)
    last_ns: Ints = ends_ns[is_last]
    return last_ns


def first_start_ns(process: ProcessData, anchors: Anchors) -> int:
    """The first step begins with the first input or forward after its loop was entered, but not
    with what a framework evaluates before it trains."""
    end_ns = int(anchors.end_ns[0])
    entered_ns = process.start_ns
    if anchors.loop is not None:
        entries = anchors.loop.at_ns[anchors.loop.entry_starts]
        entered_ns = int(entries[entries < end_ns].max(initial=entered_ns))
    spans = process.of_kind(EventKind.SPAN)
    begins = np.isin(spans["extra"], _BEGINNERS) & (spans["thread"] == anchors.thread)
    began, ended = process.interval_ns(spans[begins])  # the loop may be the input's own
    told = process.interval_ns(spans[spans["extra"] == SpanCategory.EVALUATION])
    kept = (ended > entered_ns) & (began < end_ns) & (step_of(began, *union(*told)) < 0)
    return int(began[kept].min(initial=end_ns))


def samples_by_step(process: ProcessData, thread: int, start_ns: Ints, end_ns: Ints) -> Ints:
    """As the framework tells; else from the batches that were fetched, or from the first forward of
    each step."""
    marks = process.of_kind(EventKind.STEP)
    marks = marks[(marks["extra"] == StepMark.FRAMEWORK) & (marks["thread"] == thread)]
    if len(marks) == len(start_ns) and marks["value0"].any():
        told: Ints = np.sort(marks, order="start")["value0"].astype(np.int64)
        return np.clip(told, 0, 2**40)
    spans = process.of_kind(EventKind.SPAN)
    spans = spans[spans["thread"] == thread]
    fetched = _summed(process, _trained_on(spans), start_ns, end_ns)
    if fetched.any():
        return fetched
    computed = _computed_samples(process, spans, start_ns, end_ns)
    return computed if computed.any() else _forward_samples(process, spans, start_ns, end_ns)


def _trained_on(spans: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The batches that are followed by a pass with gradients before the next batch comes."""
    inputs = np.sort(spans[spans["extra"] == SpanCategory.INPUT], order="start")
    is_forward = (spans["extra"] == SpanCategory.FORWARD) & (
        spans["value1"] & np.uint64(ForwardFlag.NO_GRAD) == 0
    )
    others = np.isin(spans["extra"], (SpanCategory.BACKWARD, SpanCategory.COMPUTE))
    happened = spans["end"] != spans["start"]  # else it came to nothing
    passes = np.sort(spans["start"][(is_forward | others) & happened])
    before_next = np.searchsorted(passes, inputs["start"])
    kept: npt.NDArray[Any] = inputs[np.append(before_next[1:], len(passes)) > before_next]
    return kept


def _summed(process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints) -> Ints:
    total = np.zeros(len(start_ns), np.int64)
    step = step_of(process.clock.ns(spans["start"]), start_ns, end_ns)
    kept = (step >= 0) & (spans["value0"] < 2**40)
    np.add.at(total, step[kept], spans["value0"][kept].astype(np.int64))
    return total


def _computed_samples(
    process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints
) -> Ints:
    """What the first compiled function of each step was given, each time that it was called; once
    where others are called beside it (a discriminator sees a batch, and then what was made)."""
    spans = spans[(spans["extra"] == SpanCategory.COMPUTE) & (spans["value1"] > _UPDATES)]
    step = step_of(process.clock.ns(spans["start"]), start_ns, end_ns)
    spans, step = spans[step >= 0], step[step >= 0]
    total = np.zeros(len(start_ns), np.int64)
    those, first, index = np.unique(step, return_index=True, return_inverse=True)
    is_others: Mask = spans["value0"] != spans["value0"][first][index]
    with_others = np.bincount(index, is_others, len(those)) > 0
    counts = np.where(with_others[index], np.arange(len(spans)) == first[index], ~is_others)
    given = np.minimum(spans["value1"] >> np.uint64(1), 2**40).astype(np.int64)
    np.add.at(total, step[counts], given[counts])
    return total


def _forward_samples(
    process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints
) -> Ints:
    """Of the first module: once, or for each backward where one goes with each of its forwards
    (gradient accumulation, but not an optimizer that asks several times)."""
    is_training = (spans["extra"] == SpanCategory.FORWARD) & (spans["value1"] == 0)
    forwards = spans[is_training & (spans["value0"] > 0)]
    if not len(forwards):
        return np.zeros(len(start_ns), np.int64)
    forwards = forwards[forwards["name"] == forwards["name"][0]]
    backward = spans["extra"] == SpanCategory.BACKWARD
    steps = spans[(spans["extra"] == SpanCategory.OPTIMIZER) & (spans["value0"] > 0)]
    is_asked_again = step_of(forwards["start"], steps["start"], steps["end"]).max() >= 0
    is_alone = len(np.unique(steps["value0"])) <= 1
    if is_alone and not is_asked_again and len(forwards) == backward.sum():
        return _summed(process, forwards, start_ns, end_ns)
    step = step_of(process.clock.ns(forwards["start"]), start_ns, end_ns)
    _, first = np.unique(step, return_index=True)
    return _summed(process, forwards[first], start_ns, end_ns)
