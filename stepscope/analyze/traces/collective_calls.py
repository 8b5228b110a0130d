"""The collectives of a trace, so that they can be found again in the traces of the other ranks, and
how far the clocks of the ranks are apart.

A collective is known by the step that it is in, its name and its number in that step. It ends on
all ranks at about the same time: what their clocks say about that is how far they are apart.
"""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import ON_DEVICE, Category, Trace

_STEP: Final = "ProfilerStep#"
_ON_HOST: Final = ("gloo:", "nccl:", "c10d::", "mpi:", "ucc:")  # where no device has it
_MOST: Final = 20_000  # of one trace: enough to tell, and few enough to hand around
_LEAST_SHARED: Final = 3


@dataclasses.dataclass(frozen=True, eq=False)
class CollectiveCalls:
    """In order of their start; `key` is the same on all ranks."""

    key: list[str]
    start_ns: Ints
    end_ns: Ints


def collective_calls(trace: Trace) -> CollectiveCalls:
    events = _collectives(trace)[:_MOST]
    step = _steps(trace, events["start_ns"])
    seen: dict[str, int] = {}
    keys = []
    for number, name in zip(step, events["name"].tolist(), strict=True):
        what = f"{number} {_short(trace.names[name])}"
        seen[what] = seen.get(what, 0) + 1
        keys.append(f"{what} {seen[what]}")
    return CollectiveCalls(keys, events["start_ns"], events["start_ns"] + events["duration_ns"])


def collective_ends(trace: Trace) -> dict[str, int]:
    found = collective_calls(trace)
    return dict(zip(found.key, found.end_ns.tolist(), strict=True))


def _collectives(trace: Trace) -> npt.NDArray[Any]:
    """On the device; if there are none, the ranges in which the host waits for them."""
    wanted = [number for number, name in enumerate(trace.names) if is_collective(name)]
    found = trace.of(*ON_DEVICE)
    found = found[np.isin(found["name"], wanted)]
    if not len(found):
        names = enumerate(trace.names)
        wanted = [number for number, name in names if name.startswith(_ON_HOST)]
        found = trace.of(Category.OP, Category.ANNOTATION)
        found = found[np.isin(found["name"], wanted)]
    ordered: npt.NDArray[Any] = found[np.argsort(found["start_ns"], kind="stable")]
    return ordered


def _short(name: str) -> str:
    """Without arguments and template: those may differ between versions of the library."""
    return name.partition("(")[0]


def _steps(trace: Trace, start_ns: Ints) -> list[str]:
    """The step that the trace marks around each; one before the first has none."""
    marks = [number for number, name in enumerate(trace.names) if name.startswith(_STEP)]
    events = trace.of(Category.ANNOTATION, Category.OP)
    events = events[np.isin(events["name"], marks)]
    events = events[np.argsort(events["start_ns"], kind="stable")]
    names = ["", *(trace.names[number].removeprefix(_STEP) for number in events["name"].tolist())]
    at = np.searchsorted(events["start_ns"], start_ns, side="right")
    return [names[index] for index in at.tolist()]


# --- one clock ------------------------------------------------------------------------------------


def shifts_ns(ends: Sequence[Mapping[str, int]]) -> list[int]:
    """What to add to the times of each trace, so that its collectives end when the first one's do;
    0 where they have too few in common."""
    return [_shift_ns(each, ends[0]) for each in ends]


def _shift_ns(mine: Mapping[str, int], others: Mapping[str, int]) -> int:
    common = mine.keys() & others.keys()
    if len(common) < _LEAST_SHARED:
        return 0
    return round(statistics.median(others[key] - mine[key] for key in common))
