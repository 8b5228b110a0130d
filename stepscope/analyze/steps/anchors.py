"""Steps that a framework reports: its own batches, else the first optimizer that steps twice and
those that follow it, else the first compiled function that updates weights and is called twice. A
script may train with an optimizer for a while and with a compiled function then, or before.

A step runs from one anchor's end to the next one's, so evaluation and saving between two of them
belong to the later one. Between two trainings, each with its own optimizer, they belong to
neither.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from stepscope.analyze.intervals import Indices, step_of, union
from stepscope.analyze.steps.jitted_functions import with_first_calls
from stepscope.analyze.steps.loops import Loop, Mask, enclosing, is_suspended
from stepscope.analyze.steps.optimizer_runs import ONE_TRAINING, are_repeated, find_trainings
from stepscope.clock import Ints
from stepscope.store.events import Ids, Spans
from stepscope.store.format import SpanCategory, StepMark
from stepscope.store.reader import ProcessData

_FEW_TURNS: Final = 8
_FUNCTIONS: Final = 1 << 40  # added to the numbers of functions: optimizers are numbered below
_BEGINNERS: Final = (
    SpanCategory.INPUT,
    SpanCategory.FORWARD,
    SpanCategory.TRANSFER,
    SpanCategory.COMPUTE,
    SpanCategory.BACKWARD,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Anchors:
    """Where steps end, in order of time."""

    end_ns: Ints
    thread: int
    what: str  # "Adam.step()", "batches of Lightning"
    loops: tuple[Loop | None, ...]  # for each training, the innermost loop that turns once per step
    begins: Indices  # the first step of each training


def find_anchors(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    return (
        _batches(process, loops)
        or _optimizer_steps(process, loops)
        or _compiled_steps(process, loops)
    )


def _batches(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    marks = process.step_marks[process.step_marks.who == StepMark.FRAMEWORK]
    if not len(marks):
        return None
    marks = marks[are_on_busiest(marks.thread)]
    end_ns = np.sort(marks.at_ns)
    name = span_name(process, marks.name[0], "the framework")
    thread = int(marks.thread[0])
    loop = loop_of_ends(end_ns, loops, thread)
    return Anchors(end_ns, thread, f"batches of {name}", (loop,), ONE_TRAINING)


def _optimizer_steps(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    spans = process.spans.of(SpanCategory.OPTIMIZER)
    calls = _calls(spans, spans.number)
    if calls is None:
        return None
    calls = _with_compiled(process, calls)
    found = loops_of_trainings(calls.anchor_ns, calls.begins, loops, calls.thread)
    beside = {
        loop: calls.end_ns[~calls.is_anchor & calls.are_in(loop, found)] for loop in set(found)
    }
    around = {loop: _larger_step(loop, loops, others_ns) for loop, others_ns in beside.items()}
    return calls.as_steps(_steps_of(process, calls), found, around)


def _steps_of(process: ProcessData, calls: "_Calls") -> str:
    """`Adam.step() and LBFGS.step()`, in order of time; for a function, its name."""
    firsts = calls.anchors[calls.begins]
    steps = (
        _called(span_name(process, name, "optimizer"), is_compiled)
        for name, is_compiled in zip(firsts.name, firsts.are(SpanCategory.COMPUTE), strict=True)
    )
    *others, last = dict.fromkeys(steps)
    return f"{', '.join(others)} and {last}" if others else last


def _called(name: str, is_function: bool) -> str:
    if is_function or "." in name:
        return name if name.endswith(")") else f"{name}()"
    return f"{name}.step()"


def _with_compiled(process: ProcessData, calls: "_Calls") -> "_Calls":
    """Compiled functions that train before an optimizer's training, after it, or between two: those
    called while it goes on are part of its steps."""
    begun = np.flatnonzero(np.diff(calls.training, prepend=-1))
    ended = np.append(begun[1:], len(calls.training)) - 1
    spans = process.spans.of(SpanCategory.OPTIMIZER, SpanCategory.COMPUTE)
    is_compiled = spans.are(SpanCategory.COMPUTE)
    compiled = spans[is_compiled]
    number, updates = with_first_calls(compiled)
    updates &= (number > 0) & (compiled.thread == calls.thread)
    updates &= step_of(compiled.end_ns, calls.end_ns[begun], calls.end_ns[ended] + 1) < 0
    if not updates.any():
        return calls
    numbers = spans.number.astype(np.int64)
    numbers[is_compiled] = np.where(updates, _FUNCTIONS + number, 0)
    return _calls(spans, numbers) or calls


def _compiled_steps(process: ProcessData, loops: Sequence[Loop]) -> Anchors | None:
    """From functions that do the passes and the update in one; if some are known to update, only
    those count."""
    spans = process.spans.of(SpanCategory.COMPUTE)
    number, updates = with_first_calls(spans)
    updates &= (number > 0) & spans.is_done
    calls = _calls(spans, np.where(updates, number, 0) if updates.any() else number)
    if calls is None:
        return None
    calls = calls.of_first_training()  # what follows may well evaluate
    loop = loop_of_ends(calls.anchor_ns, loops, calls.thread)
    around = _loop_with_all(calls, loops) if loop is None else None
    name = span_name(process, calls.anchors.name[0], "function")
    return calls.as_steps(_called(name, True), [loop], {loop: around})


class _Calls(NamedTuple):
    """Calls of optimizers or functions, in the order of their ends; in each training, one of them
    makes the steps."""

    spans: Spans
    number: Ints  # of the optimizer or function
    end_ns: Ints
    is_anchor: Mask
    training: Indices

    @property
    def thread(self) -> int:
        return int(self.spans.thread[0])

    @property
    def anchors(self) -> Spans:
        return self.spans[self.is_anchor]

    @property
    def anchor_ns(self) -> Ints:
        return self.end_ns[self.is_anchor]

    @property
    def begins(self) -> Indices:
        """The first anchor of each training."""
        return np.flatnonzero(np.diff(self.training[self.is_anchor], prepend=-1))

    def of_first_training(self) -> "_Calls":
        is_anchor = self.is_anchor & (self.training == 0)
        return self._replace(is_anchor=is_anchor, training=np.zeros_like(self.training))

    def are_in(self, loop: Loop | None, loops: Sequence[Loop | None]) -> Mask:
        """Which calls lie in a training of this loop. `loops`: of each training."""
        of_loop: Mask = np.array([each is loop for each in loops])[self.training]
        return of_loop

    def as_steps(
        self, what: str, loops: Sequence[Loop | None], around: Mapping[Loop | None, Loop | None]
    ) -> Anchors:
        """`around`: for a training's loop, the loop whose turns each have several of these calls
        and are the steps."""
        is_end = self.is_anchor.copy()
        for loop, larger in around.items():
            if larger is not None:
                here = self.are_in(loop, loops)
                is_end[here] = self._are_last_of_turn(larger)[here]
        begins = np.searchsorted(self.training[is_end], np.arange(len(loops)))
        found = tuple(around[loop] or loop for loop in loops)
        return Anchors(self.end_ns[is_end], self.thread, what, found, begins)

    def _are_last_of_turn(self, loop: Loop) -> Mask:
        turn = np.searchsorted(np.sort(loop.at_ns), self.end_ns)
        is_last: Mask = (np.diff(turn, append=-1) != 0) | (np.diff(self.training, append=-1) != 0)
        return is_last


def _calls(spans: Spans, number: Ints) -> _Calls | None:
    """The calls that have a number, have ended and are repeated."""
    kept = np.flatnonzero((number > 0) & spans.is_done)
    if not len(kept):
        return None
    kept = kept[are_on_busiest(spans.thread[kept])]
    kept = kept[np.argsort(spans.end_ns[kept], kind="stable")]
    kept = kept[are_repeated(number[kept])]
    if not len(kept):
        return None
    is_anchor, training = find_trainings(number[kept])
    return _Calls(spans[kept], number[kept], spans.end_ns[kept], is_anchor, training)


def _loop_with_all(calls: _Calls, loops: Sequence[Loop]) -> Loop | None:
    """A discriminator that is trained twice and then the generator, in one body, are one step:
    finds the innermost loop in whose turns each of several functions is called equally often."""
    numbers = calls.number
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


def span_name(process: ProcessData, id: np.uint32, unknown: str) -> str:
    name = process.names.spans.get(int(id))
    return name.name if name else unknown


def are_on_busiest(thread: Ids) -> Mask:
    threads, counts = np.unique(thread, return_counts=True)
    mine: Mask = thread == threads[np.argmax(counts)]
    return mine


def loop_of_ends(end_ns: Ints, loops: Sequence[Loop], thread: int) -> Loop | None:
    """The innermost loop that turns once per step."""
    return loops_of_trainings(end_ns, ONE_TRAINING, loops, thread)[0]


def loops_of_trainings(
    end_ns: Ints, begins: Indices, loops: Sequence[Loop], thread: int
) -> list[Loop | None]:
    """For each training, the innermost loop that turns once per step. A generator that makes the
    batches turns as often, while the loop that takes them waits: only if no other one does."""
    best: list[Loop | None] = [None] * len(begins)
    there = [loop for loop in loops if loop.thread == thread]
    takes = [loop for loop in there if not is_suspended(loop, there)]
    _put_innermost(best, takes, end_ns, begins)
    if None in best:
        rest: list[Loop | None] = [None] * len(begins)
        _put_innermost(rest, there, end_ns, begins)
        best = [found or other for found, other in zip(best, rest, strict=True)]
    return best


def _put_innermost(
    best: list[Loop | None], loops: Sequence[Loop], end_ns: Ints, begins: Indices
) -> None:
    for loop in loops:
        for training in np.flatnonzero(_turns_once_a_step(loop, end_ns, begins)).tolist():
            found = best[training]
            if found is None or loop.total_ns < found.total_ns:
                best[training] = loop


def _turns_once_a_step(loop: Loop, end_ns: Ints, begins: Indices) -> Mask:
    """For each training, which lasts from the end of the one before."""
    stamps = np.sort(loop.at_ns)
    turn = np.searchsorted(stamps, end_ns)
    is_new = np.diff(turn, prepend=0) > 0
    distinct = np.add.reduceat(is_new, begins, dtype=np.int64)
    steps = np.diff(begins, append=len(end_ns))
    stamped = np.diff(np.append(0, turn[begins[1:] - 1]), append=len(stamps))
    fits: Mask = (distinct >= 0.9 * steps) & (stamped <= 2 * steps + 1)
    return fits


def _larger_step(loop: Loop | None, loops: Sequence[Loop], others_ns: Ints) -> Loop | None:
    """Five updates of a critic in their own loop and then one of the generator are one step: a turn
    of the loop around, in which the other optimizer steps."""
    if loop is None or not len(others_ns) or len(loop.turns) < 2:
        return None
    # The last entry may have been cut short, with the script.
    turns = loop.turns[:-1] if loop.turns[-1] < loop.turns[0] else loop.turns
    if turns.min() != turns.max() or not 1 < turns[0] <= _FEW_TURNS:
        return None
    around = enclosing([other for other in loops if other.thread == loop.thread]).get(loop)
    if around is None:
        return None
    entered, left = loop.at_ns[loop.entry_starts], loop.at_ns[loop.open_starts]
    inside = step_of(others_ns, entered, left) >= 0
    return None if inside.any() else around


def start_ns(process: ProcessData, anchors: Anchors) -> Ints:
    """From anchor to anchor. The first step of a training begins with the first input or forward
    after its loop was entered, but not with what a framework evaluates before it trains."""
    before_ns = np.append(process.start_ns, anchors.end_ns[:-1])
    start_ns = before_ns.copy()
    start_ns[anchors.begins] = _first_starts_ns(process, anchors, before_ns[anchors.begins])
    return start_ns


def _first_starts_ns(process: ProcessData, anchors: Anchors, before_ns: Ints) -> Ints:
    """`before_ns`: the end of the training before each one."""
    end_ns = anchors.end_ns[anchors.begins]
    entered_ns = [
        before if loop is None else _last_entry_before(loop, end)
        for loop, before, end in zip(
            anchors.loops, before_ns.tolist(), end_ns.tolist(), strict=True
        )
    ]
    began, ended = _beginners(process, anchors.thread)  # the loop may be the one that loads
    after_ns = np.maximum(entered_ns, before_ns)
    not_over = np.searchsorted(np.maximum.accumulate(ended), after_ns, side="right")
    begun_ns = np.clip(np.append(began, end_ns[-1])[not_over], before_ns, end_ns)
    goes_on = np.array(entered_ns) < before_ns  # in the same loop, with another optimizer
    goes_on[0] = False
    return np.where(goes_on, before_ns, begun_ns)


def _last_entry_before(loop: Loop, end_ns: int) -> int:
    entries = loop.at_ns[loop.entry_starts]
    return int(entries[entries < end_ns].max(initial=0))


def _beginners(process: ProcessData, thread: int) -> tuple[Ints, Ints]:
    """What a step may begin with, in order of time."""
    evaluations = process.spans.of(SpanCategory.EVALUATION)
    began, ended = process.spans.on(thread).of(*_BEGINNERS).interval_ns
    kept = np.flatnonzero(step_of(began, *union(*evaluations.interval_ns)) < 0)
    kept = kept[np.argsort(began[kept], kind="stable")]
    return began[kept], ended[kept]
