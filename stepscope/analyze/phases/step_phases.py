"""What each step's time was spent on: exclusive categories that sum to the step."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.phases.file_spans import FILES, activity_spans
from stepscope.analyze.phases.framework_spans import PHASES, is_trained_by_framework
from stepscope.analyze.phases.recording_cost import modelled_share
from stepscope.analyze.phases.seen_stalls import Part, moved_ns, seen_stalls
from stepscope.analyze.phases.span_table import Spans
from stepscope.analyze.phases.waiting_in_graphs import graph_input
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_SPANS: Final = {int(category): category.name.lower() for category in PHASES}
_PYTHON: Final = FILES + 1
_NAMES: Final = {**_SPANS, FILES: "files", _PYTHON: "python"}
_LABELS: Final = {name: label for label, name in _NAMES.items()}
# Categories that time is given to without a span.
_WITHOUT_SPANS: Final = (
    SpanCategory.GC, SpanCategory.PROFILER, SpanCategory.INPUT, SpanCategory.COMPUTE,
    FILES, _PYTHON,
)  # fmt: skip
# These are always listed, 0 or not.
_ALWAYS: Final = ("python", "gc", "profiler")
_ALWAYS_WITHOUT_FRAMEWORK: Final = (*_ALWAYS, "files")


@dataclasses.dataclass(frozen=True, eq=False)
class Phases:
    """`ns` is steps x categories; a row sums to its step's duration."""

    names: tuple[str, ...]
    ns: npt.NDArray[np.int64]
    is_estimated: npt.NDArray[np.bool_]  # whether the input in a step's compute is estimated


@functools.lru_cache(maxsize=64)
def phases_by_step(process: ProcessData, steps: FoundSteps) -> Phases:
    """Innermost span wins; Python is the rest."""
    spans = activity_spans(process, steps)
    stalls = seen_stalls(process, steps).parts
    given = [_LABELS[name] for part in stalls for name in (part.phase, part.belongs_to)]
    # A column for each category that occurs: of millions of steps, all would take gigabytes.
    occur = {*np.unique(spans.category).tolist(), *map(int, _WITHOUT_SPANS), *given}
    column = {label: at for at, label in enumerate(label for label in _NAMES if label in occur)}
    nested = intervals.Intervals.sorted(spans.start_ns, spans.end_ns, _columns(spans, column))
    table = intervals.exclusive_by_step(nested, steps.start_ns, steps.end_ns, len(column))
    _fit(table, steps.duration_ns)
    rest = steps.duration_ns - table.sum(axis=1)
    is_trained = is_trained_by_framework(process)
    cost = np.rint(modelled_share(process, steps) * steps.duration_ns).astype(np.int64)
    _claim_cost(table, rest, cost, column[SpanCategory.PROFILER])
    table[:, column[_PYTHON]] = rest
    moved = column[SpanCategory.COMPUTE], column[SpanCategory.INPUT]
    is_estimated = _take_input_out(process, steps, table, *moved)
    _move_seen_stalls(stalls, steps, table, column)
    always = _ALWAYS if is_trained else _ALWAYS_WITHOUT_FRAMEWORK
    used = [
        label
        for label, name in _NAMES.items()
        if label in column and (name in always or table[:, column[label]].any())
    ]
    names = tuple(_NAMES[label] for label in used)
    return Phases(names, _only(table, [column[label] for label in used]), is_estimated)


def _columns(spans: Spans, column: dict[int, int]) -> npt.NDArray[np.int64]:
    found = np.zeros(max(column) + 1, np.int64)
    found[list(column)] = list(column.values())
    return found[spans.category]


def _only(table: npt.NDArray[np.int64], columns: list[int]) -> npt.NDArray[np.int64]:
    """Some columns, in order, in the place of the others: of millions of steps, a copy takes a
    hundred megabytes."""
    for at, column in enumerate(columns):
        if at != column:
            table[:, at] = table[:, column]
    return table[:, : len(columns)]


def _take_input_out(
    process: ProcessData, steps: FoundSteps, table: npt.NDArray[np.int64], compute: int, input: int
) -> npt.NDArray[np.bool_]:
    """Moves the input out of compiled functions that fetch their batches themselves."""
    inside = graph_input(process, steps)
    if inside is None:
        return np.zeros(len(steps), np.bool_)
    moved = np.minimum(inside.ns, table[:, compute])
    table[:, compute] -= moved
    table[:, input] += moved
    return inside.is_estimated


def _move_seen_stalls(
    stalls: Sequence[Part],
    steps: FoundSteps,
    table: npt.NDArray[np.int64],
    column: dict[int, int],
) -> None:
    """What only the samples show of saving, logging and evaluating."""
    if not stalls:
        return
    measured = table[steps.is_measured]
    whole_ns = measured.sum(axis=0)
    for part in stalls:
        phase, other = (column[_LABELS[name]] for name in (part.phase, part.belongs_to))
        moved = moved_ns(part, float(whole_ns[phase]), measured[:, phase], measured[:, other])
        measured[:, phase] -= moved
        measured[:, other] += moved
    table[steps.is_measured] = measured


def _fit(table: npt.NDArray[np.int64], duration_ns: Ints) -> None:
    """Damaged spans must not claim more than the step has."""
    table[np.flatnonzero(table.sum(axis=1) > duration_ns)] = 0


def _claim_cost(table: npt.NDArray[np.int64], rest: Ints, cost_ns: Ints, profiler: int) -> None:
    """Our own cost is what nobody claims, and as much of all phases as is missing: lines of the
    user's run in every one of them."""
    before = rest.copy()
    _claim(table, rest, profiler, cost_ns)
    missing = np.maximum(0, cost_ns - before)
    short = np.flatnonzero(missing)  # few steps, if any
    others = np.delete(np.arange(table.shape[1]), profiler)
    phases = table[np.ix_(short, others)]
    share = np.minimum(1.0, missing[short] / np.maximum(1, phases.sum(axis=1)))
    taken = (phases * share[:, None]).astype(np.int64)
    table[np.ix_(short, others)] -= taken
    table[short, profiler] += taken.sum(axis=1)


def _claim(table: npt.NDArray[np.int64], rest: Ints, label: int, wanted_ns: Ints) -> None:
    """Give a category time that is not claimed yet, as far as there is any."""
    given = np.clip(wanted_ns, 0, rest)
    table[:, label] += given
    rest -= given
