"""What the names in traces say: which events are steps, waits for a batch or for the device."""

import re
from typing import Any, Final

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
