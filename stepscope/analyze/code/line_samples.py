"""What the samples know about each line of the user's: how it was spent, and when.

1. A look at a thread counts for every line on its stack, once.
2. It is the line's own if the line is the innermost frame: what runs then is its own bytecode, or C
   that it called. Otherwise it belongs to Python functions that the line called.
3. The part of it in which the thread's CPU time stood still was waiting. CPU time is read a few
   times a second: shorter waits are spread over what is around them.
"""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.code.sampled_stacks import Seen, stacks_of
from stepscope.analyze.counters import grown
from stepscope.analyze.libraries import users_files
from stepscope.analyze.run import shown_path
from stepscope.clock import Ints
from stepscope.model import Process
from stepscope.model.page import LineSamples
from stepscope.store.reader import ProcessData, Run

PARTS: Final = 24  # of the run, in a line's course
HIGHEST: Final = 15
_Place = tuple[str, int]  # path, line
_Floats = npt.NDArray[np.float64]


@dataclasses.dataclass(eq=False)
class _Total:
    own_ns: int = 0
    calls_ns: int = 0
    waiting_ns: float | None = None
    course: _Floats = dataclasses.field(default_factory=lambda: np.zeros(PARTS))


def line_samples(run: Run) -> list[LineSamples]:
    """By role and line; workers together."""
    totals: dict[tuple[Process, _Place], _Total] = {}
    for process in run.processes:
        places = _Places(process)
        for seen in stacks_of(process).by_thread():
            _add_thread(totals, process, places, seen)
    return [
        LineSamples(
            file=shown_path(run, path),
            line=line,
            process=role,
            own_ns=total.own_ns,
            calls_ns=total.calls_ns,
            waiting_ns=None if total.waiting_ns is None else round(total.waiting_ns),
            course=_levels(total.course),
        )
        for (role, (path, line)), total in totals.items()
    ]


def _levels(course: _Floats) -> list[int]:
    """In sixteenths of the largest, which is enough for a spark; what is there is at least 1."""
    levels = np.ceil(course / max(1.0, float(course.max())) * HIGHEST)
    return levels.astype(np.int64).tolist()  # type: ignore[no-any-return]  # NumPy says Any


class _Places:
    """The user's lines of each stack, the innermost first."""

    def __init__(self, process: ProcessData) -> None:
        found, users = process.samples, users_files(process)
        names = {number: each.file for number, each in process.names.functions.items()}
        columns = (found.nodes[each].tolist() for each in ("parent", "function", "line"))
        rows = zip(found.numbers.tolist(), *columns, strict=True)
        self._own: set[int] = set()
        self._known: dict[int, tuple[_Place, ...]] = {0: ()}
        for number, parent, function, line in rows:  # callers come before what they call
            places, path = self._known[parent], names.get(function, "")
            if path in users and line:
                self._own.add(number)
                place = path, line
                places = (place, *(each for each in places if each != place))
            self._known[number] = places

    def of(self, node: int) -> tuple[_Place, ...]:
        return self._known[node]

    def is_own(self, node: int) -> bool:
        """Whether the innermost frame is a line of the user's."""
        return node in self._own


def _add_thread(
    totals: dict[tuple[Process, _Place], _Total], process: ProcessData, places: _Places, seen: Seen
) -> None:
    waiting = _waiting(process, seen)
    for node in np.unique(seen.nodes).tolist():
        lines = places.of(node)
        if not lines:
            continue
        mine = seen.nodes == node
        ns = int(seen.weight_ns[mine].sum())
        course = _course(process, seen.start_ns[mine], seen.weight_ns[mine])
        for number, place in enumerate(lines):
            total = totals.setdefault((process.process, place), _Total())
            if number == 0 and places.is_own(node):
                total.own_ns += ns
            else:
                total.calls_ns += ns
            if waiting is not None:
                total.waiting_ns = (total.waiting_ns or 0.0) + float(waiting[mine].sum())
            total.course += course


def _waiting(process: ProcessData, seen: Seen) -> _Floats | None:
    """Of each look; None: the thread's CPU time is not known."""
    cpu = process.cpu.on(seen.thread.id)
    if len(cpu) < 2:
        return None
    window = seen.start_ns, seen.start_ns + seen.weight_ns
    return np.clip(seen.weight_ns - grown(cpu.at_ns, cpu.thread_ns, window), 0, seen.weight_ns)


def _course(process: ProcessData, start_ns: Ints, weight_ns: Ints) -> _Floats:
    """In each part of the process's time, how many ns of these looks."""
    whole_ns = max(1, process.end_ns - process.start_ns)
    part = (start_ns + weight_ns // 2 - process.start_ns) * PARTS // whole_ns
    counted = np.bincount(np.clip(part, 0, PARTS - 1), weights=weight_ns, minlength=PARTS)
    found: _Floats = counted.astype(np.float64)
    return found
