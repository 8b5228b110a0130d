"""What the sampler saw of the steps' thread: every look, by stack and by the phase of its spans.

A look is the stack at one moment and stands for the time since the look before. The share of the
looks that meet a condition is the share of the step's time, up to chance: `error` says how far off
that may be.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of
from stepscope.analyze.libraries import users_files
from stepscope.analyze.phases.file_spans import FILES, activity_spans
from stepscope.analyze.phases.span_table import owner_at
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData
from stepscope.store.records import FunctionName

PYTHON: Final = "python"
MOST_LOOKS_A_SAMPLE: Final = 10_000  # a damaged count must not take all memory
_Samples = np.ndarray[tuple[int], np.dtype[np.void]]


@dataclasses.dataclass(frozen=True)
class Frame:
    """A function in a stack, and the line that it was at."""

    function: FunctionName
    line: int
    is_users: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Look:
    """All looks at one stack in one phase, together."""

    phase: str
    frames: tuple[Frame, ...]  # outermost first
    ns: float
    is_slow: bool = False  # what a slow step takes above a typical one

    @property
    def users(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.frames if frame.is_users)

    @property
    def called(self) -> Frame | None:
        """The library function that the user's innermost frame called."""
        own = [index for index, frame in enumerate(self.frames) if frame.is_users]
        below = self.frames[own[-1] + 1 :] if own else self.frames
        return below[0] if below else None

    @property
    def is_in_users_line(self) -> bool:
        """Whether no library's Python code lies below the user's own."""
        return bool(self.frames) and self.frames[-1].is_users


@dataclasses.dataclass(frozen=True, eq=False)
class StepTime:
    looks: list[Look]
    count: int  # how many moments it is based on
    total_ns: float

    def share(self, wanted: Callable[[Look], bool]) -> float:
        if not self.total_ns:
            return 0.0
        return sum(look.ns for look in self.looks if wanted(look)) / self.total_ns

    def error(self, share: float) -> float:
        """Two standard errors of a share."""
        if not self.count:
            return 1.0
        return 2 * math.sqrt(max(share * (1 - share), 1 / (4 * self.count)) / self.count)


def chance_of(share: float, *, seen: int, usual: float) -> float:
    """At most how likely it is that this share of the looks, or more, meets what usually has the
    other share: Chernoff's bound."""
    usual = usual or 1 / (seen + 2)  # never seen there: Laplace's rule
    if share <= usual:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - usual)) if share < 1 else 0.0
    return math.exp(-seen * (share * math.log(share / usual) + rest))


@functools.lru_cache(maxsize=16)
def step_time(process: ProcessData, steps: FoundSteps) -> StepTime:
    """Of the measured steps, on the thread that has them."""
    return time_in(process, steps, steps.is_measured)


def time_in(
    process: ProcessData, steps: FoundSteps, wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> StepTime:
    """Of the steps that are wanted."""
    samples = process.samples.samples
    samples = samples[np.isin(samples["thread"], [steps.thread, *steps.handed.thread])]
    if not len(samples) or not wanted.any():
        return StepTime([], 0, 0.0)
    at_ns, node, weight = moments(process, samples)
    step = step_of(at_ns, steps.start_ns[wanted], steps.end_ns[wanted])
    kept = (step >= 0) & (by_moment(samples, samples["thread"]) == steps.thread_at(at_ns))
    at_ns, node, weight = at_ns[kept], node[kept], weight[kept]
    phase = owner_at(activity_spans(process, steps), at_ns)
    pairs, where = np.unique(np.stack([node, phase]), axis=1, return_inverse=True)
    sums = np.bincount(where.reshape(-1), weights=weight, minlength=pairs.shape[1])
    frames = frames_of(process)
    looks = [
        Look(_name(int(label)), frames.of(int(number)), float(ns))
        for (number, label), ns in zip(pairs.T.tolist(), sums.tolist(), strict=True)
    ]
    return StepTime(looks, len(at_ns), float(weight.sum()))


def moments(
    process: ProcessData, samples: _Samples
) -> tuple[Ints, Ints, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """A sample that was seen several times in a row is as many moments, evenly apart."""
    count = _count(samples)
    start = process.clock.ns(samples["start"])
    lasted = process.clock.duration_ns(samples["weight"])
    index = np.repeat(np.arange(len(samples)), count)
    number = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count) + 1
    at_ns = start[index] + (lasted[index] * (number / count[index])).astype(np.int64)
    return at_ns, samples["node"].astype(np.int64)[index], (lasted / count)[index]


def by_moment(samples: _Samples, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column of the samples, for each of their moments."""
    return np.repeat(column, _count(samples))


def _count(samples: _Samples) -> Ints:
    return np.clip(samples["count"].astype(np.int64), 1, MOST_LOOKS_A_SAMPLE)


def _name(category: int) -> str:
    if category == FILES:
        return "files"
    return SpanCategory(category).name.lower() if category else PYTHON


@functools.lru_cache(maxsize=16)
def frames_of(process: ProcessData) -> "Frames":
    """Several questions ask for the same stacks."""
    return Frames(process)


class Frames:
    """The frames of a node of samples.bin, outermost first."""

    def __init__(self, process: ProcessData) -> None:
        found = process.samples
        columns = (found.nodes[name].tolist() for name in ("parent", "function", "line"))
        self._nodes = dict(zip(found.numbers.tolist(), zip(*columns, strict=True), strict=True))
        self._functions = process.names.functions
        self._users = users_files(process)
        self._known: dict[int, tuple[Frame, ...]] = {}

    def of(self, node: int) -> tuple[Frame, ...]:
        if node not in self._known:
            self._known[node] = tuple(reversed(list(self._inwards_out(node))))
        return self._known[node]

    def _inwards_out(self, node: int) -> Iterable[Frame]:
        while node:
            node, number, line = self._nodes[node]
            function = self._functions.get(number)
            if function is not None:
                yield Frame(function, line, function.file in self._users)
