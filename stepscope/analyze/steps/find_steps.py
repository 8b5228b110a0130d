"""The steps of a process: marked by the script, reported by its framework, or turns of its loop."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of
from stepscope.analyze.run import code_location, source_text
from stepscope.analyze.steps import anchors
from stepscope.analyze.steps.batch_sizes import samples_by_step
from stepscope.analyze.steps.hand_written import find_gradients
from stepscope.analyze.steps.handed_over import Handed, handed, handing_loop
from stepscope.analyze.steps.loop_headers import body_line
from stepscope.analyze.steps.loop_words import runs_out
from stepscope.analyze.steps.loops import Loop, Mask, ancestors, enclosing, read_loops
from stepscope.analyze.steps.one_offs import one_offs_note, with_one_offs
from stepscope.analyze.steps.step_loop import StepLoop, choose_step_loop
from stepscope.analyze.steps.warmup import AHEAD, warmup_steps
from stepscope.analyze.traces.windows import slowed_steps
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.store.format import SpanCategory, StepMark
from stepscope.store.reader import ProcessData, Run

_NO_LOOP: Final = (
    "no loop has at least 10 turns, 1 ms or more per turn, and 5 % of the time. "
    "Say which loop trains: 'for batch in stepscope.steps(loader):', or stepscope.step() at the "
    "end of each turn (after 'import stepscope'). Or see 'stepscope show {run} lines'."
)
_STUB: Final = 0.1  # of the usual step; on a busy machine a whole step may take only half of it
_NOTHING: Final[Ints] = np.zeros(0, np.int64)
_NO_PROCESS: Final = "nothing was recorded."


@dataclasses.dataclass(frozen=True, eq=False)
class FoundSteps:
    """Steps in order of time, in monotonic ns. All arrays have one entry per step."""

    start_ns: Ints
    end_ns: Ints
    is_open: Mask  # its end is known only roughly: the loop was left in it
    samples: Ints  # 0: not known
    samples_are: str | None = None  # what they are, where that is not plain
    warmup: int = 0
    thread: int = 0
    anchor: str | None = None
    reason: str | None = None
    # When a loop around the step loop finished a turn, in order.
    outer_turns_ns: Ints = dataclasses.field(default_factory=lambda: _NOTHING)
    # When the loop that the steps happen in was at its header.
    header_ns: Ints = dataclasses.field(default_factory=lambda: _NOTHING)
    slowed: Mask | None = None  # by an operator window
    loops: tuple[Loop, ...] = ()  # all that were stamped, on any thread
    one_off: Mask | None = None  # by compiling what is compiled once
    unseen_ns: tuple[Ints, Ints] = (_NOTHING, _NOTHING)  # from, to: steps that were not recorded
    handed: Handed = dataclasses.field(default_factory=Handed.none)  # to other threads

    def __len__(self) -> int:
        return len(self.start_ns)

    @functools.cached_property
    def duration_ns(self) -> Ints:
        lasted_ns = self.end_ns - self.start_ns
        lasted_ns.flags.writeable = False  # all who ask share it
        return lasted_ns

    @functools.cached_property
    def is_measured(self) -> Mask:
        kept = ~self.is_open
        kept[: self.warmup] = False
        for left_out in (self.slowed, self.one_off):
            if left_out is not None and (kept & ~left_out).any():
                kept = kept & ~left_out
        kept.flags.writeable = False  # all who ask share it
        return kept

    def thread_at(self, at_ns: Ints) -> Ints:
        """Which thread has the step at each moment: seldom another one than `thread`."""
        return self.handed.thread_at(at_ns, self.thread)

    def one_offs(self, process: ProcessData) -> str | None:
        """What was compiled once, in words."""
        if self.one_off is None:
            return None
        return one_offs_note(process, self.start_ns, self.end_ns, self.samples, self.one_off)


def no_steps(reason: str) -> FoundSteps:
    none = np.zeros(0, np.int64)
    return FoundSteps(none, none, np.zeros(0, np.bool_), none, reason=reason)


@functools.lru_cache(maxsize=64)
def find_steps(run: Run, process: ProcessData | None) -> FoundSteps:
    """By priority: stepscope.step(), the turns of a loop that hands its passes to other threads,
    what a framework reports, then the step loop; the gradients, if there are any and no loop has
    them."""
    if process is None:
        return no_steps(_NO_PROCESS)
    loops = read_loops(run, process)
    found = _marked_steps(process, loops) or _handed_steps(run, process, loops)
    found = found or _anchored_steps(process, loops)
    found = found or _gradient_or_loop_steps(run, process, loops)
    if found is None:
        return no_steps(_NO_LOOP.format(run=run.path))
    found = _without_rests(process, found)
    slowed = slowed_steps(process, found.start_ns, found.end_ns)
    warmup = _warmup(process, found)
    one_off = with_one_offs(process, found.start_ns, found.end_ns, warmup)
    return dataclasses.replace(
        found, warmup=warmup, slowed=slowed, one_off=one_off, loops=tuple(loops)
    )


def _without_rests(process: ProcessData, found: FoundSteps) -> FoundSteps:
    """Of a long job, not every step is recorded: what spans a rest is many steps."""
    rests = process.rests
    first = np.searchsorted(found.end_ns, rests.start_ns, side="right")
    last = np.searchsorted(found.start_ns, rests.end_ns)
    seen = np.ones(len(found), np.bool_)
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        seen[begin:end] = False
    if seen.all() or not seen.any():
        return found
    unseen_ns = found.start_ns[~seen], found.end_ns[~seen]
    return dataclasses.replace(_subset(found, seen), unseen_ns=unseen_ns)


def _warmup(process: ProcessData, found: FoundSteps) -> int:
    """Settled, and past the first compilation."""
    closed = found.duration_ns[~found.is_open]
    settled = warmup_steps(closed)
    compiles = process.spans.of(SpanCategory.COMPILE)
    if len(compiles):
        last = int(step_of(compiles.end_ns[:1], found.start_ns, found.end_ns)[0])
        if last < AHEAD * len(found):
            settled = max(settled, last + 1)
    return settled


def _marked_steps(process: ProcessData, loops: list[Loop]) -> FoundSteps | None:
    """From mark to mark; after the loop was entered again, from its header."""
    marks = process.step_marks[process.step_marks.who != StepMark.FRAMEWORK]
    if not len(marks):
        return None
    threads, counts = np.unique(marks.thread, return_counts=True)
    thread = int(threads[np.argmax(counts)])
    marks = marks.on(thread).by_start()
    at_ns = marks.at_ns
    ends = marks.who != StepMark.BEGINS
    if not ends.any():
        return None
    loop = anchors.loop_of_ends(at_ns[ends], loops, thread)
    before_ns = np.append(at_ns[:1], at_ns[:-1])  # the mark before, which may be a first beginning
    if ends[0]:
        before_ns[0] = _first_phase(process, thread, int(at_ns[0]))
    start_ns = _cut_at_entries(before_ns[ends], at_ns[ends], loop, is_first_known=not ends[0])
    steps = FoundSteps(
        start_ns, at_ns[ends], np.zeros(len(start_ns), np.bool_), marks.samples[ends],
        thread=thread, anchor="stepscope.step()",
        outer_turns_ns=_outer_turns_ns([loop] if loop else []),
        header_ns=np.sort(loop.at_ns) if loop else at_ns[:0],
    )  # fmt: skip
    return _without_stubs(steps)


def _handed_steps(run: Run, process: ProcessData, loops: list[Loop]) -> FoundSteps | None:
    loop = handing_loop(process, loops)
    if loop is None:
        return None
    there = enclosing([each for each in loops if each.thread == loop.thread])
    return _turns_as_steps(run, process, StepLoop(loop, tuple(ancestors(there, loop))), loops)


def _anchored_steps(process: ProcessData, loops: list[Loop]) -> FoundSteps | None:
    found = anchors.find_anchors(process, loops)
    return None if found is None else _from_anchor_to_anchor(process, found)


def _gradient_or_loop_steps(run: Run, process: ProcessData, loops: list[Loop]) -> FoundSteps | None:
    turns = _loop_steps(run, process, loops)
    start_ns, end_ns = (turns.start_ns, turns.end_ns) if turns else (_NOTHING, _NOTHING)
    gradients = find_gradients(process, loops, start_ns, end_ns)
    return turns if gradients is None else _from_anchor_to_anchor(process, gradients)


def _from_anchor_to_anchor(process: ProcessData, found: anchors.Anchors) -> FoundSteps:
    end_ns, start_ns = found.end_ns, anchors.start_ns(process, found)
    around = [loop for loop in dict.fromkeys(found.loops) if loop is not None]
    spans = process.spans.on(found.thread)
    counted = samples_by_step(process, spans, found.thread, (start_ns, end_ns), found.begins)
    return FoundSteps(
        start_ns, end_ns, np.zeros(len(end_ns), np.bool_), counted.samples,
        samples_are=counted.what, thread=found.thread, anchor=found.what,
        outer_turns_ns=_outer_turns_ns(around),
        header_ns=np.sort(np.concatenate([end_ns[:0], *(loop.at_ns for loop in around)])),
    )  # fmt: skip


def _first_phase(process: ProcessData, thread: int, end_ns: int) -> int:
    """Where a first step without a beginning began: with its first input or forward."""
    phases = process.spans.on(thread).of(SpanCategory.INPUT, SpanCategory.FORWARD)
    return int(phases.start_ns.min(initial=end_ns))


def _cut_at_entries(
    before_ns: Ints, end_ns: Ints, loop: Loop | None, *, is_first_known: bool
) -> Ints:
    """What lies between the mark before and the loop's next entry is not part of a step."""
    if loop is None:
        return before_ns
    entered = np.sort(loop.at_ns[loop.entry_starts])
    last = np.searchsorted(entered, end_ns) - 1
    entered_at = np.where(last >= 0, entered[np.maximum(last, 0)], before_ns)
    start_ns = np.maximum(before_ns, entered_at)
    if not is_first_known:
        start_ns[0] = min(end_ns[0], entered_at[0])
    return start_ns


def _without_stubs(steps: FoundSteps) -> FoundSteps | None:
    """A mark at the top of the loop's body ends a turn's first moment, which is not a step."""
    duration = steps.duration_ns
    usual = float(np.median(duration[1:])) if len(duration) > 1 else 0.0
    is_after_a_gap = np.append(True, steps.start_ns[1:] != steps.end_ns[:-1])
    kept = ~(is_after_a_gap & (duration < _STUB * usual)) & (duration > 0)
    return _subset(steps, kept) if kept.any() else None


def _subset(steps: FoundSteps, kept: npt.NDArray[Any]) -> FoundSteps:
    return dataclasses.replace(
        steps,
        start_ns=steps.start_ns[kept],
        end_ns=steps.end_ns[kept],
        is_open=steps.is_open[kept],
        samples=steps.samples[kept],
    )


def _loop_steps(run: Run, process: ProcessData, loops: list[Loop]) -> FoundSteps | None:
    choice = choose_step_loop(run, process, loops)
    return None if choice is None else _turns_as_steps(run, process, choice, loops)


def _turns_as_steps(
    run: Run, process: ProcessData, choice: StepLoop, loops: list[Loop]
) -> FoundSteps:
    loop = choice.loop
    open_start, open_end = _open_turns(run, process, loop, loops)
    start_ns = np.concatenate([loop.start_ns, open_start])
    end_ns = np.concatenate([loop.end_ns, open_end])
    is_open = np.arange(len(start_ns)) >= len(loop.start_ns)
    order = np.argsort(start_ns, kind="stable")
    order = order[_is_outermost(start_ns[order], end_ns[order])]
    start_ns, end_ns = start_ns[order], end_ns[order]
    location = code_location(run, process, loop.name.code, loop.name.line)
    others = handed(process, loop.thread, start_ns, end_ns)
    spans = others.of(process.spans, loop.thread)
    counted = samples_by_step(process, spans, loop.thread, (start_ns, end_ns))
    return FoundSteps(
        start_ns, end_ns, is_open[order], counted.samples, samples_are=counted.what,
        thread=loop.thread, anchor=loop_anchor(location, loop.name.line),
        outer_turns_ns=_outer_turns_ns(choice.around), header_ns=np.sort(loop.at_ns), handed=others,
    )  # fmt: skip


_THE_LOOP: Final = "the loop at "


def loop_anchor(location: Location | None, line: int) -> str:
    """What the steps of a loop are called."""
    return _THE_LOOP + (f"{location.file}:{location.line}" if location else f"line {line}")


def loop_in(anchor: str) -> str | None:
    """The loop's place, "train.py:31", if the steps are a loop's."""
    return anchor.removeprefix(_THE_LOOP) if anchor.startswith(_THE_LOOP) else None


def _is_outermost(start_ns: Ints, end_ns: Ints) -> Mask:
    """A loop that runs inside its own turns (recursion) counts as one step."""
    ended = np.maximum.accumulate(end_ns)
    return np.append(True, start_ns[1:] >= ended[:-1])


def _outer_turns_ns(loops: tuple[Loop, ...] | list[Loop]) -> Ints:
    stamps = [loop.at_ns[~loop.begins_entry] for loop in loops]
    return np.sort(np.concatenate(stamps)) if stamps else np.zeros(0, np.int64)


def _open_turns(run: Run, process: ProcessData, loop: Loop, loops: list[Loop]) -> tuple[Ints, Ints]:
    """Turns that were left by break, return or the clean end of the process, and were real ones.

    When they ended is not recorded: at most at the thread's next stamp of a loop that does not
    run inside this one. A turn of under half the median is the check at its top, or the
    moment after the loop ran out.
    """
    begin = loop.at_ns[loop.open_starts]
    if not process.ended_cleanly:
        begin = begin[:-1] if len(begin) else begin
    most = _left_turns(run, process, loop)
    if not len(begin) or most == 0:
        return begin[:0], begin[:0]
    stamps = [other.at_ns for other in loops if _bounds(other, loop)]
    others = np.sort(np.concatenate([*stamps, np.array([process.end_ns])]))
    end = others[np.minimum(np.searchsorted(others, begin, side="right"), len(others) - 1)]
    lasted = end - begin
    real = np.flatnonzero(lasted >= np.median(loop.duration_ns) / 2)
    real = real[np.argsort(-lasted[real], kind="stable")][:most]
    return begin[real], end[real]


def _bounds(other: Loop, loop: Loop) -> bool:
    """Whether the other's next stamp comes after the turn: not true for loops inside it."""
    if other.thread != loop.thread:
        return False
    step = step_of(np.sort(other.at_ns), np.sort(loop.start_ns), np.sort(loop.end_ns))
    entered_inside = (
        other is not loop and len(other.at_ns) > 1 and 2 * (step >= 0).sum() > len(step)
    )
    return not entered_inside


def _left_turns(run: Run, process: ProcessData, loop: Loop) -> int | None:
    """How many turns began but were never closed, from the hits of the body's first line. If
    those do not show it, a header with a condition ends its entries itself. None: not known."""
    left = _left_by_hits(run, process, loop)
    if left is None and runs_out(source_text(run, process, loop.name.code, loop.name.line)):
        return 0
    return left


def _left_by_hits(run: Run, process: ProcessData, loop: Loop) -> int | None:
    for block in process.lines.blocks:
        if block.code_id != loop.name.code or block.is_thinned:
            continue
        hits = block.hits
        header = loop.name.line - block.first_line
        last = min(loop.name.last_line - block.first_line + 1, len(hits))
        body_begins = max(body_line(run, process, loop.name), loop.name.line + 1)
        first = body_begins - block.first_line
        body = hits[first:last] if header < first else hits[:0]
        body = body[body > 0]
        if 0 <= header < len(hits) and len(body):
            left = int(body[0]) - len(loop.turn_starts)
            return left if 0 <= left <= len(loop.open_starts) else None
    return None
