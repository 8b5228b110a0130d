"""The step whose critical path is shown: of median length; all of a trace without steps."""

import dataclasses

import numpy as np

from stepscope.analyze.traces.devices import Work
from stepscope.analyze.traces.marks import STEP
from stepscope.analyze.traces.operator_tree import OpTree, op_tree
from stepscope.importers.trace import Category


@dataclasses.dataclass(frozen=True, eq=False)
class PathStep:
    """Host events that begin in it, and what they launched."""

    name: str | None
    start_ns: int
    end_ns: int  # of what begins on the host


def path_step(work: Work) -> PathStep:
    marks = _marks(op_tree(work.trace))
    if len(marks) > 2:
        marks = marks[1:-1]  # the first and the last are often cut
    if marks:
        in_order = sorted(marks, key=lambda mark: mark.end_ns - mark.start_ns)
        return in_order[(len(in_order) - 1) // 2]
    host = work.trace.of(Category.OP, Category.RUNTIME)
    starts = host["start_ns"] if len(host) else work.start_ns
    return PathStep(None, int(starts.min()), int(starts.max()) + 1)


def _marks(tree: OpTree) -> list[PathStep]:
    """As the trace marks them on the host, in order."""
    names = tree.trace.names
    wanted = [number for number, name in enumerate(names) if name.startswith(STEP)]
    events = tree.events[np.isin(tree.events["name"], wanted)]
    events = events[np.argsort(events["start_ns"], kind="stable")]
    columns = events["name"].tolist(), events["start_ns"].tolist(), events["duration_ns"].tolist()
    return [
        PathStep(names[name], start, start + lasted)
        for name, start, lasted in zip(*columns, strict=True)
    ]
