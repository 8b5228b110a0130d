"""What the names in traces say: which events are steps, waits for a batch or for the device."""

import re
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.trace import Category, Trace

STEP: Final = "ProfilerStep#"
LOADERS: Final = ("enumerate(DataLoader)", "enumerate(DataPipe)")
# Freeing memory waits for the device too.
WAITS_FOR_DEVICE: Final = re.compile(
    r"(cuda|hip|cu)(Device|Stream|Event|Ctx)Synchronize"
    r"|(cuda|hip)Memcpy(2D|3D)?$|hipMemcpyWithStream|MemcpyAsync.*Sync|(cuda|hip)Free(Host)?$"
)

_Table = npt.NDArray[Any]


class StepNumbers(NamedTuple):
    number: Ints
    are_own: bool  # the trace's, and not counted here


def numbered(own: Ints) -> StepNumbers:
    """What the steps are called in every view: by the trace's own numbers (-1: it has none), if it
    numbers all of them and in order; else from 1 on."""
    are_own = bool(len(own) and (own >= 0).all() and (np.diff(own) > 0).all())
    return StepNumbers(own if are_own else np.arange(1, len(own) + 1), are_own)


def marked_words(numbers: StepNumbers) -> str:
    """What a step of a trace is."""
    return "the steps that the trace marks" + (", by its own numbers" if numbers.are_own else "")


def named(trace: Trace, *beginnings: str) -> npt.NDArray[np.bool_]:
    """Which of the events have such a name."""
    wanted = np.array([name.startswith(beginnings) for name in trace.names] or [False], np.bool_)
    found: npt.NDArray[np.bool_] = wanted[trace.events["name"]]
    return found


def ranges(trace: Trace, *beginnings: str) -> _Table:
    """The host's ranges with such a name, in order; old files have them among the operators."""
    found = trace.events[named(trace, *beginnings) & trace.is_of(Category.ANNOTATION, Category.OP)]
    in_order: _Table = found[np.argsort(found["start_ns"], kind="stable")]
    return in_order


def interval(events: _Table) -> tuple[Ints, Ints]:
    """When they begin and end."""
    return events["start_ns"], events["start_ns"] + events["duration_ns"]
