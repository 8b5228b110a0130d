"""The operators of a step, from the window with the most steps."""

import dataclasses
import functools
import math
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.grouping import grouped, in_order, sums
from stepscope.analyze.intervals import step_of, union
from stepscope.analyze.operators.flops import flops
from stepscope.analyze.operators.operators import Part, parts_of, window_answer
from stepscope.analyze.run import code_location
from stepscope.analyze.traces.nesting import any_above, innermost
from stepscope.importers.trace import Category
from stepscope.model import Location
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_Mask = npt.NDArray[np.bool_]
_Ints = npt.NDArray[np.intp]
OPTIMIZER: Final = "Optimizer.step#"
_PASSES: Final = (SpanCategory.FORWARD, SpanCategory.BACKWARD)


@dataclasses.dataclass(frozen=True, eq=False)
class StepOps:
    run: Run
    process: ProcessData
    part: Part
    steps: int
    slowdown: float  # of its steps, compared to those outside

    @property
    def is_op(self) -> _Mask:
        mask: _Mask = self.part.tree.events["category"] == Category.OP
        mask &= ~self.part.tree.events["is_input"]
        return mask

    @functools.cached_property
    def is_models(self) -> _Mask:
        """Not those of a loader: what a transform computes is not the model's."""
        return self.is_op & ~self._in_spans(SpanCategory.INPUT)

    def _in_spans(self, *categories: SpanCategory) -> _Mask:
        """Those that begin in one of the spans of these categories, on the steps' thread."""
        found = self.process.spans.of(*categories).on(self.process.main_thread)
        start_ns = self.part.tree.events["start_ns"] + self.process.clock.monotonic_ns(0)
        mask: _Mask = step_of(start_ns, *union(*found.interval_ns)) >= 0
        return mask

    @property
    def has_kernels(self) -> bool:
        """Whether a device computes."""
        return bool((self.part.tree.events["category"] == Category.KERNEL).any())

    @property
    def self_ns(self) -> npt.NDArray[np.float64]:
        """As long as each would take without the recording."""
        return self.part.tree.self_ns / max(1.0, self.slowdown)

    def usual_ns(self, kept: _Mask) -> npt.NDArray[np.float64]:
        """Of each of these: at most the median of its kind, the same operator on the same shapes.
        Anything above that is not its own: other processes had the core meanwhile."""
        took, events = self.self_ns[kept], self.part.tree.events[kept]
        kinds = np.stack([events["name"].astype(np.int64), events["shapes"].astype(np.int64)])
        _, kind = np.unique(kinds, axis=1, return_inverse=True)
        usual: npt.NDArray[np.float64] = np.minimum(took, middles(took, kind.reshape(-1)))
        return usual

    def by_step_ns(self, kept: _Mask) -> float:
        """Their own time in a mean step."""
        return float(self.self_ns[kept].sum()) / self.steps

    def count(self, kept: _Mask) -> float:
        """How many there are in a step."""
        return int(kept.sum()) / self.steps

    def name(self, index: int) -> str:
        return self.part.tree.trace.names[int(self.part.tree.events["name"][index])]

    def named(self, *parts: str) -> _Mask:
        """Those whose name contains one of these."""
        names = self.part.tree.trace.names
        wanted = [i for i, name in enumerate(names) if any(part in name for part in parts)]
        mask: _Mask = np.isin(self.part.tree.events["name"], wanted)
        return mask

    def named_just(self, *wanted: str) -> _Mask:
        """Those of exactly these names."""
        names = self.part.tree.trace.names
        numbers = [number for number, name in enumerate(names) if name in wanted]
        mask: _Mask = np.isin(self.part.tree.events["name"], numbers)
        return mask

    def inside(self, outer: _Mask) -> _Mask:
        """Those below one of these, at any depth."""
        return any_above(self.part.tree.parent, outer) & ~outer

    @functools.cached_property
    def in_optimizer(self) -> _Mask:
        """Not what a closure does: Lightning calls the passes from inside the optimizer's step."""
        return self.inside(self.named(OPTIMIZER)) & ~self._in_spans(*_PASSES)

    @functools.cached_property
    def optimizers(self) -> dict[str, _Mask]:
        """By class, Adam of "Optimizer.step#Adam.step": what is inside its steps. One may wrap
        another, whose operators are not its own."""
        ranges, names = self.named(OPTIMIZER), self.part.tree.events["name"]
        around = innermost(self.part.tree.parent, ranges)
        found = {}
        for number in np.unique(names[ranges]).tolist():
            called = self.part.tree.trace.names[number].partition("#")[2].partition(".")[0]
            found[called] = self.in_optimizer & (names[around] == number)
        return found

    def flops(self, kept: _Mask) -> npt.NDArray[np.float64]:
        """Of each of these, as far as they are known."""
        trace, events = self.part.tree.trace, self.part.tree.events[kept]
        group, first = grouped(events["name"], events["shapes"])
        counts = [
            flops(trace.names[each["name"]], trace.shapes[each["shapes"]]) or 0
            for each in events[first]
        ]
        return np.array(counts, np.float64)[group]

    def types(self) -> list[str]:
        return [shapes.types for shapes in self.part.tree.trace.shapes]

    def dims(self) -> list[str]:
        return [shapes.dims for shapes in self.part.tree.trace.shapes]

    def on_lines(self, file: str, first: int, last: int) -> _Mask:
        """Those that belong to lines of a file, backward ones to the line of their forward."""
        places = self.part.places
        codes = {
            code
            for code in np.unique(places.code).tolist()
            if (at := code_location(self.run, self.process, code, 1)) and at.file == file
        }
        mask: _Mask = np.isin(places.code, list(codes))
        mask &= (first <= places.line) & (places.line <= last)
        return mask

    def place(self, kept: _Mask) -> Location | None:
        """The line with the most of their time."""
        places = self.part.places
        known = np.flatnonzero(kept & (places.code > 0))
        if not len(known):
            return None
        group, first = grouped(places.code[known], places.line[known])
        spent = sums(group, self.part.tree.self_ns[known], len(first)).tolist()
        most = max(in_order(first), key=lambda number: spent[number])
        index = known[first[most]]
        return code_location(
            self.run, self.process, int(places.code[index]), int(places.line[index])
        )


def middles(values: npt.NDArray[np.float64], kind: _Ints) -> npt.NDArray[np.float64]:
    """For each value the median of its kind; of two in the middle, the lesser."""
    if not len(values):
        return values
    order = np.lexsort((values, kind))
    counts = np.bincount(kind)
    middle: npt.NDArray[np.float64] = values[order][np.cumsum(counts) - counts + (counts - 1) // 2]
    return middle[kind]


def elements_of(dims: str) -> float:
    """How many elements the largest of an operator's inputs has."""
    try:
        inputs = msgspec.json.decode(dims, type=list[Any])
        return float(max((math.prod(each) for each in inputs if each), default=0))
    except (msgspec.DecodeError, TypeError, ValueError):
        return 0.0


@functools.lru_cache(maxsize=16)
def step_ops(run: Run, process: ProcessData) -> StepOps | None:
    """None: no window has a whole step."""
    parts, _ = parts_of(process)
    found = []
    for part in parts:
        answer = window_answer(run, process, part)
        if answer.steps:
            found.append(StepOps(run, process, part, answer.steps, answer.slowdown or 1.0))
    return max(found, key=lambda window: window.steps, default=None)
