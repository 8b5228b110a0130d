"""Enlarges a recorded PyTorch run: repeats its operators over time and on several threads."""

import copy
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

THREADS = 4
ENLARGED = "enlarged.json"
REPEATED = ("X", "i", "s", "f")
# The ids that connect events must differ from one copy to the next.
NUMBERED = ("External id", "Sequence number", "Ev Idx")
APART = 10_000_000
Event = dict[str, Any]


def enlarge(run: Path, operators: int) -> str:
    """Gives the run's trace at least that many operators; returns a description of it."""
    done = run / ENLARGED
    if not done.exists():
        traces = sorted(run.glob("proc-*/ops-*.json*"), key=lambda path: path.stat().st_size)
        done.write_text(json.dumps(_enlarged(traces[-1], operators)))
    description: str = json.loads(done.read_text())
    return description


def _enlarged(path: Path, operators: int) -> str:
    zipped = path.suffix == ".gz"
    text = gzip.decompress(path.read_bytes()) if zipped else path.read_bytes()
    trace = json.loads(text)
    events = [each for each in trace.pop("traceEvents") if each.get("ph") in REPEATED]
    known = sum(each.get("cat") == "cpu_op" for each in events)
    copies = -(-operators // (known * THREADS))
    if zipped:
        path.unlink()
        path = path.with_suffix("")
    with path.open("w") as file:
        file.write(json.dumps(trace)[:-1] + ', "traceEvents": [\n')
        for number, event in enumerate(_repeated(events, copies)):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}")
    many = len(events) * THREADS * copies
    return (
        f"{known * THREADS * copies:,} operators ({many:,} events, "
        f"{path.stat().st_size / 1e6:.0f} MB) on {THREADS} threads"
    )


def _repeated(events: list[Event], copies: int) -> Iterator[Event]:
    complete = [each for each in events if each["ph"] == "X"]
    first = min(each["ts"] for each in complete)
    length = max(each["ts"] + each.get("dur", 0) for each in complete) - first
    for number in range(copies):
        for thread in range(THREADS):
            apart = (number * THREADS + thread) * APART
            yield from _shifted(events, number * length, thread, apart)


def _shifted(events: Iterable[Event], by_us: float, thread: int, apart: int) -> Iterator[Event]:
    for event in events:
        moved = copy.copy(event)
        moved["ts"] = event["ts"] + by_us
        if thread and isinstance(event.get("tid"), int):
            moved["tid"] = event["tid"] + thread
        if "id" in event:
            moved["id"] = event["id"] + apart
        numbers = {
            name: value + apart
            for name, value in event.get("args", {}).items()
            if name in NUMBERED and isinstance(value, int)
        }
        if numbers:
            moved["args"] = event["args"] | numbers
        yield moved
