"""Files that were opened: when, in which step, and what that cost.

The cost of a file is the inclusive time of the activation that opened it. If that activation
says nothing about it (a module, one that still ran, one around whole steps, one that trains and
writes a log on the side), it is the mean time of the line instead.
"""

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.run import line_means_ns
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.loops import Mask
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData


@dataclasses.dataclass(frozen=True, eq=False)
class Opens:
    """One entry per opened file."""

    name: npt.NDArray[np.int64]
    thread: npt.NDArray[np.int64]
    at_ns: Ints
    start_ns: Ints  # of the activation
    end_ns: Ints
    is_writing: Mask
    step: npt.NDArray[np.intp]  # in which it was opened, -1: outside all steps
    is_whole: Mask  # the activation is the cost; otherwise the line's mean
    line_ns: Ints


@functools.lru_cache(maxsize=64)
def read_opens(process: ProcessData, steps: FoundSteps) -> Opens:
    found = process.opens
    start, end = found.interval_ns
    at_ns, writing = found.opened_at_ns, found.is_writing
    step = intervals.step_of(at_ns, steps.start_ns, steps.end_ns)
    around_steps = _steps_begun(end, steps) > _steps_begun(start, steps)
    modules = _of_modules(process, found.name)
    usual = float(np.median(steps.duration_ns)) if len(steps) else np.inf
    on_the_side = writing & (step >= 0) & (end - start > usual / 2)
    return Opens(
        name=found.name.astype(np.int64),
        thread=found.thread.astype(np.int64),
        at_ns=at_ns,
        start_ns=start,
        end_ns=end,
        is_writing=writing,
        step=step,
        is_whole=found.has_ended & ~around_steps & ~modules & ~on_the_side,
        line_ns=_line_ns(process, found.name),
    )


def _steps_begun(at_ns: Ints, steps: FoundSteps) -> npt.NDArray[np.intp]:
    return np.searchsorted(steps.start_ns, at_ns, side="right")


def _of_modules(process: ProcessData, names: npt.NDArray[np.uint32]) -> Mask:
    """Opened by a module's own code, or not by the user's code at all."""
    codes = process.names.codes
    opened_by = {
        name.id: codes.get(name.code) if name.code is not None else None
        for name in process.names.opens.values()
    }
    modules = [id for id, code in opened_by.items() if code is None or code.kind == "module"]
    return np.isin(names, modules) | ~np.isin(names, list(opened_by))


def _line_ns(process: ProcessData, names: npt.NDArray[np.uint32]) -> Ints:
    means = line_means_ns(process) if len(names) else {}
    ids, position = np.unique(names, return_inverse=True)
    costs = []
    for id in ids.tolist():
        name = process.names.opens.get(id)
        known = name is not None and name.code is not None and name.line is not None
        costs.append(means.get((name.code, name.line), 0.0) if name and known else 0.0)  # type: ignore[arg-type]  # known implies both are set
    return np.rint(np.array(costs, np.float64)[position]).astype(np.int64)


def spans_in_steps(process: ProcessData, steps: FoundSteps) -> tuple[Ints, Ints]:
    """The time of activations that opened files and lie inside a step, on the step's thread."""
    opens = read_opens(process, steps)
    kept = opens.is_whole & (opens.step >= 0) & (opens.thread == steps.thread)
    return intervals.union(opens.start_ns[kept], opens.end_ns[kept])


def estimated_by_step(process: ProcessData, steps: FoundSteps) -> Ints:
    """What the other openings cost each step, by their lines: each line once per step and name."""
    opens = read_opens(process, steps)
    kept = ~opens.is_whole & (opens.step >= 0) & (opens.thread == steps.thread)
    pairs = np.stack([opens.step[kept], opens.name[kept], opens.line_ns[kept]], axis=1)
    once = np.unique(pairs, axis=0) if len(pairs) else pairs
    total = np.zeros(len(steps), np.int64)
    np.add.at(total, once[:, 0], once[:, 2])
    return total
