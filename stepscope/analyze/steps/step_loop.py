"""Which loop is the step loop: chosen by how the time is spent.

1. On each thread, loops form a tree by time: a loop lies in the one during whose turns it runs.
2. From the outside in: as long as the loops inside hold most of a loop's time, the step is in
   the one that holds the most; evaluation gives way to training.
3. Not a step: fewer than 10 turns, a median turn under 1 ms (0.1 ms if its header takes batches or
   names a step; any if gradients are computed in the turns), less than 5 % of the recorded time
   (unless the run was to end after some steps), a generator that waits for its consumer, and what
   is done a few times in every turn of the loop around (layers, networks, samples of a batch).
4. Among trees, the one with the most time wins, or in a run that was to end after some steps the
   one in which it ended; but a loop of loops beats a flat one that ran before it (preparing data),
   and the main thread beats others unless it only waits for them.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from stepscope.analyze.intervals import union
from stepscope.analyze.run import source_text
from stepscope.analyze.steps import loop_words
from stepscope.analyze.steps.loops import Loop, ancestors, enclosing
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

LEAST_TURNS: Final = 10
LEAST_MEDIAN_NS: Final = 1_000_000
LEAST_NAMED_NS: Final = 100_000  # of one that says that it goes through batches or steps
LEAST_SHARE: Final = 0.05  # of the time that was recorded, imports left out
_CUTTING: Final = ("steps", "until_stable", "stop_after_steps")  # options that end a run early
FEW_TURNS: Final = 4  # layers, networks: regardless of the names
SOME_TURNS: Final = 8
BATCH_TURNS: Final = 64  # as many samples per batch, or fewer
LATER_AND_NESTED: Final = 1 / 3  # of the time of the flat loop before it
MAIN_THREAD: Final = 1 / 4  # of the time of the loop on another thread


@dataclasses.dataclass(frozen=True, eq=False)
class StepLoop:
    """The step loop and the loops around it, innermost first."""

    loop: Loop
    around: tuple[Loop, ...]


def choose_step_loop(run: Run, process: ProcessData, loops: list[Loop]) -> StepLoop | None:
    words = _Words(run, process, _with_gradients(process, loops))
    least_ns = _least_ns(run, process)
    choices = []
    for thread in sorted({loop.thread for loop in loops}):
        found = _choose_on_thread([loop for loop in loops if loop.thread == thread], words)
        if found is not None and found.loop.total_ns >= least_ns:
            choices.append(found)
    return _choose_thread(choices, process.main_thread, words)


def _with_gradients(process: ProcessData, loops: list[Loop]) -> frozenset[Loop]:
    """The loops in most of whose turns gradients are computed."""
    backward = process.spans.of(SpanCategory.BACKWARD)
    found = set()
    for loop in loops:
        at_ns = np.sort(backward.on(loop.thread).start_ns)
        inside = np.searchsorted(at_ns, loop.end_ns) > np.searchsorted(at_ns, loop.start_ns)
        if 2 * int(inside.sum()) > len(inside):
            found.add(loop)
    return frozenset(found)


def _least_ns(run: Run, process: ProcessData) -> float:
    """In a run that ended after a number of steps, set-up may take nearly all the time."""
    if any(run.info.options.get(name) for name in _CUTTING):
        return 0.0
    return LEAST_SHARE * (process.end_ns - process.start_ns - _imports_ns(process))


def _imports_ns(process: ProcessData) -> int:
    """Importing a framework takes longer than many short trainings."""
    imports = process.spans.of(SpanCategory.IMPORT).on(process.main_thread)
    start_ns, end_ns = union(*imports.interval_ns)
    return int((end_ns - start_ns).sum())


def _choose_thread(choices: list[StepLoop], main: int, words: "_Words") -> StepLoop | None:
    working = [choice for choice in choices if not words.waits(choice.loop)]
    choices = working or choices
    if not choices:
        return None
    most = max(choices, key=lambda choice: choice.loop.total_ns)
    for choice in choices:
        enough = choice.loop.total_ns >= MAIN_THREAD * most.loop.total_ns
        if choice.loop.thread == main and enough:
            return choice
    return most


def _choose_on_thread(loops: list[Loop], words: "_Words") -> StepLoop | None:
    tree = _Tree(loops, words)
    picks = [(root, tree.pick(root)) for root in tree.inside(None)]
    found = [(root, loop) for root, loop in picks if loop is not None]
    found = _prefer_training(found, words)
    if not found:
        return None
    cut = _where_it_was_cut(found, words)
    best = cut or max(found, key=lambda pair: pair[0].total_ns)
    if not cut and not tree.around[best[1]]:
        best = max(
            (pair for pair in found if _is_nested_and_later(tree, pair, best)),
            key=lambda pair: pair[0].total_ns,
            default=best,
        )
    return StepLoop(best[1], tuple(tree.ancestors(best[1])))


def _where_it_was_cut(pairs: list[tuple[Loop, Loop]], words: "_Words") -> tuple[Loop, Loop] | None:
    """In a run that was to end after some steps: the last loop, if it has as many turns. One before
    it, which made the data, may well hold more time."""
    steps = words.run.info.options.get("steps")
    last = max(pairs, key=lambda pair: int(pair[0].at_ns.max()))
    return last if steps and len(last[1].duration_ns) >= steps else None


def _is_nested_and_later(tree: "_Tree", pair: tuple[Loop, Loop], flat: tuple[Loop, Loop]) -> bool:
    root, loop = pair
    later = int(root.at_ns.min()) >= int(flat[0].at_ns.max())
    enough = root.total_ns >= LATER_AND_NESTED * flat[0].total_ns
    return later and enough and tree.around[loop] is not None


def _prefer_training(pairs: list[tuple[Loop, Loop]], words: "_Words") -> list[tuple[Loop, Loop]]:
    training = [pair for pair in pairs if not words.evaluates(pair[1])]
    return training or pairs


@dataclasses.dataclass(frozen=True, eq=False)
class _Words:
    """What is known about loops besides their times: the names around them, to break ties, and in
    which of them gradients are computed."""

    run: Run
    process: ProcessData
    training: frozenset[Loop]

    def could_be_step(self, loop: Loop) -> bool:
        durations = loop.duration_ns
        if len(durations) < LEAST_TURNS:
            return False
        median = float(np.median(durations))
        if loop in self.training or median >= LEAST_MEDIAN_NS:
            return True
        return median >= LEAST_NAMED_NS and self._is_named(loop)

    def _is_named(self, loop: Loop) -> bool:
        header = self.header(loop)
        return loop_words.meaning(header) == "batches" or loop_words.names_a_step(header)

    def header(self, loop: Loop) -> str | None:
        return source_text(self.run, self.process, loop.name.code, loop.name.line)

    def function(self, loop: Loop) -> str | None:
        code = self.process.names.codes.get(loop.name.code)
        return code.function if code else None

    def evaluates(self, loop: Loop) -> bool:
        texts = (self.header(loop), self.function(loop))
        return any(loop_words.mentions_evaluation(text) for text in texts)

    def waits(self, loop: Loop) -> bool:
        """Whether most of the loop's time is spent in a line that only waits for others."""
        hottest, most = None, 0
        for block in self.process.lines.blocks:
            if block.code_id != loop.name.code:
                continue
            for line in range(loop.name.line, loop.name.last_line + 1):
                index = line - block.first_line
                if 0 <= index < len(block.entries) and block.entries["ticks"][index] > most:
                    hottest, most = line, int(block.entries["ticks"][index])
        if hottest is None:
            return False
        return loop_words.only_waits(source_text(self.run, self.process, loop.name.code, hottest))


class _Tree:
    """The loops of one thread, each in the one around it."""

    def __init__(self, loops: Iterable[Loop], words: _Words) -> None:
        self.around = enclosing(list(loops))
        self._words = words
        self.pick: Callable[[Loop], Loop | None] = functools.cache(self._pick)

    def inside(self, outer: Loop | None) -> list[Loop]:
        return [loop for loop, around in self.around.items() if around is outer]

    def ancestors(self, loop: Loop) -> list[Loop]:
        return ancestors(self.around, loop)

    def _pick(self, loop: Loop) -> Loop | None:
        """The step loop within `loop`, which may be itself."""
        picks = [(child, self.pick(child)) for child in self.inside(loop)]
        found = [(child, pick) for child, pick in picks if pick is not None]
        held_ns = sum(child.total_ns for child, _ in found)
        found = _prefer_training(found, self._words)
        best = max(found, key=lambda pair: pair[0].total_ns, default=(None, None))[1]
        if self._gives_way(loop, best):
            return None
        could_be = self._words.could_be_step(loop)
        if best is not None and (2 * held_ns >= loop.total_ns or not could_be):
            return best
        return loop if could_be else None

    def _gives_way(self, loop: Loop, best_inside: Loop | None) -> bool:
        """Whether its turns are parts of one step of a loop around it."""
        around = self.around[loop]
        if around is None or not any(map(self._words.could_be_step, self.ancestors(loop))):
            return False
        entries, turns = len(loop.turns), float(np.median(loop.turns))
        if entries < LEAST_TURNS or _has_many_turns(best_inside):
            return False
        says = loop_words.meaning(self._words.header(loop))
        if says == "rounds":
            return False
        is_epoch = self._is_one_epoch(loop, around)
        if says == "items" or (turns <= FEW_TURNS and not (says == "batches" and is_epoch)):
            return True
        if says == "batches" or is_epoch:
            return False
        return turns <= SOME_TURNS or (turns <= BATCH_TURNS and entries >= 1.5 * turns)

    def _is_one_epoch(self, loop: Loop, around: Loop) -> bool:
        outer = loop_words.meaning(self._words.header(around)) == "rounds"
        return outer or loop_words.mentions_epochs(self._words.function(loop))


def _has_many_turns(loop: Loop | None) -> bool:
    return loop is not None and float(np.median(loop.turns)) > BATCH_TURNS
