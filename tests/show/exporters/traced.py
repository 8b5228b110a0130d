"""Two ranks and a worker with operators on a device, made by hand, and traces read back."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from build import MS, ProcessBuilder, RunBuilder
from stepscope.store.events import LineBegins, Memory
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window

US = 1000
HOSTILE = 'aug"ment\\\n\t\x00 \x1b[31m </script> \u2028 é 🐍'
DEVICE = 0  # as every rank calls its own


def two_ranks(path: Path, *, words: str = "cuda_runtime") -> Path:
    """Steps of 10 ms; the first two, except for the last 4 ms, are in a window."""
    run = RunBuilder(path)
    for rank in (0, 1):
        process = run.process(pid=100 + rank, rank=rank, role="rank")
        _train(process)
        process.write(ended_ns=60 * MS)
        _trace(process, 100 + rank, words)
    worker = run.process(pid=200, rank=0, role="worker", parent_pid=100)
    worker.span(SpanCategory.STAGE, 2 * MS, 5 * MS, name="fetch")
    worker.span(SpanCategory.STAGE, 3 * MS, 4 * MS, name="collate")
    worker.write(ended_ns=50 * MS)
    return path


def _train(process: ProcessBuilder) -> None:
    code = process.code("train")
    process.lines(code, 1, [(1, 1000)] * 20)
    process.step(0, begins=True)
    for end in range(10, 60, 10):
        process.step(end * MS, samples=32)
    process.span(SpanCategory.REGION, 1 * MS, 5 * MS, name=HOSTILE)
    process.span(SpanCategory.REGION, 2 * MS, 3 * MS, name="inside")
    process.span(SpanCategory.REGION, 4 * MS, 8 * MS, name="across")  # partly overlaps the first
    process.span(SpanCategory.ACTION, 1 * MS, 2 * MS, name="optimizer_step")
    process.span(SpanCategory.GC, 6 * MS, 7 * MS)
    process.span(
        SpanCategory.COMMUNICATION, 8 * MS, 9 * MS, name="all_reduce", number=3,
        group=process.span_name("gloo 0"),
    )  # fmt: skip
    process.counter(Memory, 5 * MS, resident_bytes=2**30, peak_bytes=2**30)
    for line, at_us in ((3, 100), (4, 200), (0, 900)):
        process.event(LineBegins, code if line else 0, process.ticks(at_us * US), line=line)
    window(process, 0, 16 * MS)


def _trace(process: ProcessBuilder, pid: int, words: str) -> None:
    def event(name: str, ts: float, dur: float, **fields: Any) -> dict[str, Any]:
        base = {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": pid}
        return base | {"ts": ts, "dur": dur, "args": {}} | fields

    def flow(category: str, number: int, ph: str, ts: float, **where: Any) -> dict[str, Any]:
        base = {"ph": ph, "cat": category, "name": category, "id": number, "pid": pid, "tid": pid}
        return base | {"ts": ts} | where

    def kernel(external: int, correlation: int) -> dict[str, Any]:
        return {
            "External id": external, "correlation": correlation, "device": DEVICE, "stream": 7,
            "blocks per SM": 0.5, "est. achieved occupancy %": 40, "grid": [1, 1, 1],
            "block": [128, 1, 1],
        }  # fmt: skip

    stream = {"pid": DEVICE, "tid": 7}
    events = [
        {"ph": "M", "name": "process_labels", "pid": DEVICE, "tid": 0, "args": {"labels": "GPU 0"}},
        {"ph": "M", "name": "process_labels", "pid": 5, "tid": 0, "args": {"labels": "GPU 5"}},
        {"ph": "M", "name": "thread_name", **stream, "args": {"name": "stream 7"}},
        event("aten::mm", 110.125, 50.25, args={"External id": 1, "Input Dims": [[2, 3], [3, 5]]}),
        event("aten::empty", 120.0, 5.001, args={"External id": 2}),
        event("cudaLaunchKernel", 130, 9, cat=words, args={"External id": 1, "correlation": 9}),
        event("gemm", 140.5, 80, cat="kernel", **stream, args=kernel(1, 9)),
        event("aten::mm", 12_000, 50, args={"External id": 4}),
        event("cudaLaunchKernel", 12_010, 9, cat=words,
              args={"External id": 4, "correlation": 10}),
        event("gemm", 12_030, 20, cat="kernel", **stream, args=kernel(4, 10)),
        event(HOSTILE, 210, 40, args={"External id": 3}),
        event("enumerate(DataLoader)#_Iter.__next__", 10_100, 900, cat="user_annotation"),
        event("PyTorch Profiler (0)", 0, 999, cat="Trace", pid="Spans", tid="PyTorch Profiler"),
        flow("ac2g", 9, "s", 130),
        flow("ac2g", 9, "f", 140.5, bp="e", **stream),
        flow("fwdbwd", 1, "s", 110.125),
        flow("fwdbwd", 1, "f", 210, bp="e"),
        flow("fwdbwd", 2, "s", 110.125),  # its other end is after the window
        {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": pid,
         "tid": pid, "ts": 121, "args": {"Bytes": 64, "Total Allocated": 640, "Device Type": 0}},
    ]  # fmt: skip
    trace_file(process.folder / TRACE, events)


def read(path: Path) -> list[dict[str, Any]]:
    """By a strict reader: no NaN, no control characters in strings."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


def ns(us: float) -> int:
    return round(us * 1000)


def of(events: list[dict[str, Any]], category: str) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def row_names(events: list[dict[str, Any]]) -> dict[tuple[int, int], str]:
    named = [event for event in events if event["ph"] == "M" and event["name"] == "thread_name"]
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in named}


def assert_nested(events: list[dict[str, Any]]) -> None:
    """In every row, what begins inside another ends inside it; and every row has a name."""
    rows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in events:
        assert event["ph"] in ("X", "M", "C", "i", "s", "f")
        if event["ph"] == "X":
            start = ns(event["ts"])
            row = rows.setdefault((event["pid"], event["tid"]), [])
            row.append((start, -start - ns(event["dur"])))
    assert rows
    assert not set(rows) - set(row_names(events))
    for row in rows.values():
        around: list[int] = []
        for start, minus_end in sorted(row):
            while around and around[-1] <= start:
                around.pop()
            assert not around or -minus_end <= around[-1]
            around.append(-minus_end)


def assert_flows_have_both_ends(events: list[dict[str, Any]]) -> int:
    """How many there are."""
    flows = [event for event in events if event["ph"] in ("s", "f")]
    ends = Counter((event["cat"], event["id"], event["ph"]) for event in flows)
    assert set(ends.values()) <= {1}
    begun = {key[:2] for key in ends if key[2] == "s"}
    assert begun == {key[:2] for key in ends if key[2] == "f"}
    return len(begun)
