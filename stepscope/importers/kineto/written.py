"""The events of a Kineto trace as they are in the file, with few of them in memory at a time."""

import math
from collections.abc import Iterator
from typing import Any, Final

from stepscope.importers.kineto.text import TraceText, base_ns
from stepscope.importers.trace import Trace
from stepscope.importers.written_events import Event, Written

_FARTHEST_US: Final = 2.0**61 / 1000


def events_in(trace: Trace) -> Iterator[Written]:
    began_ns = base_ns(trace.head)
    for events in TraceText(trace.path, Event):
        for event in events:
            yield event, began_ns + _ns(event.get("ts")), max(0, _ns(event.get("dur")))


def _ns(us: Any) -> int:
    """Rounded like the reader does; what is not a number is 0."""
    try:
        value = float(us)
    except (TypeError, ValueError, OverflowError):
        return 0
    if not math.isfinite(value) or abs(value) >= _FARTHEST_US:
        return 0
    whole = math.floor(value)
    return whole * 1000 + round((value - whole) * 1000)
