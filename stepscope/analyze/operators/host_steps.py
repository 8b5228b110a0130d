"""What the CPU did in the steps of a trace in which nothing ran on a device.

Steps are those that the trace marks (`ProfilerStep#`, or as XProf finds them); else from one step
of an optimizer to the next; else all of it is one, and nothing can be said by step.
"""

import dataclasses
import functools
import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, step_of, union
from stepscope.analyze.operators.operators import Part, parts_of
from stepscope.analyze.operators.step_operators import OPTIMIZER, StepOps
from stepscope.analyze.traces.marks import STEP
from stepscope.analyze.traces.windows import read_causes
from stepscope.analyze.traces.xprof_steps import CATEGORIES, INPUT, XprofSteps, xprof_steps
from stepscope.clock import Ints
from stepscope.importers.trace import Category
from stepscope.model import Location
from stepscope.store.reader import ProcessData, Run

_Mask = npt.NDArray[np.bool_]
_LEAST_STEPS: Final = 2  # of an optimizer: from one to the next is a step
_LOADERS: Final = re.compile(r"enumerate\(DataLoader\)|_DataLoaderIter\.__next__|IteratorGetNext")
_FRAME: Final = re.compile(r"^(?P<file>.+\.py)\((?P<line>\d+)\): (?P<function>.+)$")
# torch leaves out the folders above site-packages and the standard library.
_NOT_USERS: Final = re.compile(
    r"/lib/python3|site-packages|^<|^(torch|numpy|threading|contextlib|typing|functools)(/|\.py)"
)


@dataclasses.dataclass(frozen=True, eq=False)
class HostTime:
    """Of one trace. Times are in its own clock."""

    part: Part
    start_ns: Ints
    step_ns: Ints
    is_by_step: bool  # whether these are steps, and not all of the trace as one
    operators: StepOps
    xprof: XprofSteps | None = None  # where the trace says which step caused which event

    @property
    def steps(self) -> int:
        return len(self.step_ns)

    @property
    def mean_ns(self) -> float:
        return float(self.step_ns.mean())

    @functools.cached_property
    def inside(self) -> _Mask:
        """Which operators and ranges begin in a step."""
        starts = self.part.tree.events["start_ns"]
        found: _Mask = step_of(starts, self.start_ns, self.start_ns + self.step_ns) >= 0
        return found

    def by_step_ns(self, kept: _Mask) -> float:
        """How long at least one of these runs, by step."""
        events = self.part.tree.events[kept]
        covered = union(events["start_ns"], events["start_ns"] + events["duration_ns"])
        return self.covered_ns(covered)

    def covered_ns(self, covered: tuple[Ints, Ints]) -> float:
        ends = self.start_ns + self.step_ns
        return float(overlap_ns(self.start_ns, ends, covered).sum()) / self.steps

    def matching(self, pattern: re.Pattern[str]) -> _Mask:
        names = self.part.tree.trace.names
        wanted = [number for number, name in enumerate(names) if pattern.search(name)]
        return np.isin(self.part.tree.events["name"], wanted)

    @functools.cached_property
    def waits(self) -> _Mask:
        """For a batch."""
        return self.matching(_LOADERS)

    @property
    def input_ns(self) -> float:
        if self.xprof is not None:
            return float(self.xprof.ns[:, CATEGORIES.index(INPUT)].mean())
        return self.by_step_ns(self.waits)

    def users_function(self, kept: _Mask) -> Location | None:
        """The user's function that runs longest inside these, if the trace has stacks."""
        trace, events = self.part.tree.trace, self.part.tree.events[kept]
        frames = trace.of(Category.PYTHON)
        covered = union(events["start_ns"], events["start_ns"] + events["duration_ns"])
        frames = frames[step_of(frames["start_ns"], *covered) >= 0]
        spent = np.bincount(frames["name"], weights=frames["duration_ns"], minlength=1)
        for number in np.argsort(-spent).tolist():
            place = _FRAME.match(trace.names[number]) if spent[number] else None
            if place and not _NOT_USERS.search(place["file"]):
                return Location(
                    file=place["file"], line=int(place["line"]), function=place["function"]
                )
        return None


def host_time(run: Run, process: ProcessData) -> HostTime | None:
    """Of the trace with the most operators; None: no trace can be read or has any."""
    parts, _ = parts_of(process)
    part = max(parts, key=lambda each: len(each.tree), default=None)
    if part is None or not len(part.tree):
        return None
    causes = read_causes(part.window.path)
    xprof = xprof_steps(causes) if causes is not None else None
    found = _marked(part, xprof) or _between_optimizers(part)
    start_ns, step_ns = found or _whole(part)
    operators = StepOps(run, process, part, len(step_ns), 1.0)
    is_xprof = xprof is not None and len(xprof) > 0
    return HostTime(
        part, start_ns, step_ns, found is not None, operators, xprof if is_xprof else None
    )


def _marked(part: Part, xprof: XprofSteps | None) -> tuple[Ints, Ints] | None:
    if xprof is not None and len(xprof):
        return xprof.start_ns, xprof.end_ns - xprof.start_ns
    marks = _named(part, STEP)
    order = np.argsort(marks["start_ns"])
    if not len(marks):
        return None
    return marks["start_ns"][order], np.maximum(1, marks["duration_ns"][order])


def _between_optimizers(part: Part) -> tuple[Ints, Ints] | None:
    """The first that steps twice."""
    stepped = _named(part, OPTIMIZER)
    for name in dict.fromkeys(stepped["name"][np.argsort(stepped["start_ns"])].tolist()):
        mine = stepped[stepped["name"] == name]
        ends = np.sort(mine["start_ns"] + mine["duration_ns"])
        if len(ends) > _LEAST_STEPS:
            return ends[:-1], np.maximum(1, np.diff(ends))
    return None


def _named(part: Part, beginning: str) -> npt.NDArray[Any]:
    names = part.tree.trace.names
    wanted = [number for number, name in enumerate(names) if name.startswith(beginning)]
    found: npt.NDArray[Any] = part.tree.events[np.isin(part.tree.events["name"], wanted)]
    return found


def _whole(part: Part) -> tuple[Ints, Ints]:
    first = int(part.tree.events["start_ns"].min())
    return np.array([first]), np.array([max(1, int(part.tree.end_ns.max()) - first)])
