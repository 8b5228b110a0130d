"""Adds to a hand-built run an operator window, and the trace that torch would write in it."""

import json
from pathlib import Path
from typing import Any

from build import START_NS, WALL_OFFSET_NS, ProcessBuilder
from stepscope.store.events import Windows

TRACE = "ops-1.json"


def window(process: ProcessBuilder, first_ns: int, last_ns: int, **columns: int) -> None:
    name = process.name("name", name=TRACE)
    process.event(Windows, name, process.ticks(first_ns), process.ticks(last_ns), **columns)


def trace_file(path: Path, events: list[dict[str, Any]]) -> Path:
    """Times of the events are us since recording began."""
    head = {"schemaVersion": 1, "baseTimeNanoseconds": START_NS + WALL_OFFSET_NS}
    path.write_text(json.dumps(head | {"traceEvents": events}))
    return path
