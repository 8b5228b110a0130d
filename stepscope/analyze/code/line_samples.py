"""What the samples know about each line of the user's: how it was spent, and when.

1. A look at a thread counts for every line on its stack, once.
2. It is the line's own if the line is the innermost frame: what runs then is its own bytecode, or C
   that it called. Otherwise it belongs to Python functions that the line called.
3. Each look also says what the thread did at that moment: it executed Python, it was in C, or it
   waited. Looks that do not know are spread over the others of the same line.
"""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.code.sampled_stacks import Seen, stacks_of
from stepscope.analyze.libraries import users_files
from stepscope.analyze.run import shown_path
from stepscope.clock import Ints
from stepscope.model import Process
from stepscope.model.page import LineSamples
from stepscope.store.format import SamplesKind
from stepscope.store.reader import ProcessData, Run

PARTS: Final = 24  # of the run, in a line's course
HIGHEST: Final = 15
_KNOWN: Final = (SamplesKind.PYTHON, SamplesKind.NATIVE, SamplesKind.WAITING)
_Place = tuple[str, int]  # path, line
_Floats = npt.NDArray[np.float64]


@dataclasses.dataclass(eq=False)
class _Total:
    own_ns: int = 0
    calls_ns: int = 0
    known_ns: _Floats = dataclasses.field(default_factory=lambda: np.zeros(len(_KNOWN)))
    course: _Floats = dataclasses.field(default_factory=lambda: np.zeros(PARTS))


def line_samples(run: Run) -> list[LineSamples]:
    """By role and line; workers together."""
    totals: dict[tuple[Process, _Place], _Total] = {}
    for process in run.processes:
        places = _Places(process)
        for seen in stacks_of(process).by_thread(kinds_apart=True):
            _add_thread(totals, process, places, seen)
    return [_line(run, *key, total) for key, total in totals.items()]


def _line(run: Run, role: Process, place: _Place, total: _Total) -> LineSamples:
    path, line = place
    python_ns, native_ns, waiting_ns = _parts(total)
    return LineSamples(
        file=shown_path(run, path),
        line=line,
        process=role,
        own_ns=total.own_ns,
        calls_ns=total.calls_ns,
        python_ns=python_ns,
        native_ns=native_ns,
        waiting_ns=waiting_ns,
        course=_levels(total.course),
    )


def _parts(total: _Total) -> tuple[int, int, int] | tuple[None, None, None]:
    """In the order of _KNOWN; they sum to the line's time."""
    whole_ns, known_ns = total.own_ns + total.calls_ns, float(total.known_ns.sum())
    if not known_ns:
        return None, None, None
    python, native, _ = (round(each * whole_ns / known_ns) for each in total.known_ns.tolist())
    return python, native, whole_ns - python - native


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
    for node in np.unique(seen.nodes).tolist():
        lines = places.of(node)
        if not lines:
            continue
        mine = seen.nodes == node
        ns = int(seen.weight_ns[mine].sum())
        known_ns = np.array([seen.weight_ns[mine & (seen.kinds == each)].sum() for each in _KNOWN])
        course = _course(process, seen.start_ns[mine], seen.weight_ns[mine])
        for number, place in enumerate(lines):
            total = totals.setdefault((process.process, place), _Total())
            if number == 0 and places.is_own(node):
                total.own_ns += ns
            else:
                total.calls_ns += ns
            total.known_ns += known_ns
            total.course += course


def _course(process: ProcessData, start_ns: Ints, weight_ns: Ints) -> _Floats:
    """In each part of the process's time, how many ns of these looks."""
    whole_ns = max(1, process.end_ns - process.start_ns)
    part = (start_ns + weight_ns // 2 - process.start_ns) * PARTS // whole_ns
    counted = np.bincount(np.clip(part, 0, PARTS - 1), weights=weight_ns, minlength=PARTS)
    found: _Floats = counted.astype(np.float64)
    return found
