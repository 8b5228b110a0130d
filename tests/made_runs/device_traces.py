"""Small traces of a device, made by hand: times in µs, one host thread unless said otherwise."""

import json
from pathlib import Path
from typing import Any

from stepscope.analyze.traces.devices import Work, works_of
from stepscope.analyze.traces.windows import read_trace
from stepscope.importers.trace import Trace

Event = dict[str, Any]
A100 = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42_297_524_224}


def _event(category: str, name: str, start: float, lasted: float, **args: Any) -> Event:
    thread = args.pop("thread", 1)
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start,
            "dur": lasted, "args": args}  # fmt: skip


def operator(name: str, start: float, lasted: float, **args: Any) -> Event:
    return _event("cpu_op", name, start, lasted, **args)


def named_range(name: str, start: float, lasted: float, **args: Any) -> Event:
    return _event("user_annotation", name, start, lasted, **args)


def call(name: str, start: float, lasted: float, correlation: int = 0, **args: Any) -> Event:
    return _event("cuda_runtime", name, start, lasted, correlation=correlation, **args)


def launch(start: float, lasted: float, correlation: int, **args: Any) -> Event:
    return call("cudaLaunchKernel", start, lasted, correlation, **args)


def kernel(name: str, start: float, lasted: float, correlation: int, **args: Any) -> Event:
    stream = args.setdefault("stream", 7)
    category = args.pop("category", "kernel")
    args = {"device": 0, "correlation": correlation} | args
    return _event(category, name, start, lasted, thread=f"stream {stream}", **args)


def copy(name: str, start: float, lasted: float, correlation: int, **args: Any) -> Event:
    return kernel(name, start, lasted, correlation, category="gpu_memcpy", **args)


def allocation(at: float, size: int, address: int, **args: Any) -> Event:
    """Negative: freed."""
    found = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": address} | args
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": at,
            "s": "t", "args": found}  # fmt: skip


def written(path: Path, *events: Event, **head: Any) -> Path:
    path.write_text(json.dumps({"deviceProperties": [A100]} | head | {"traceEvents": list(events)}))
    return path


def work(path: Path, *events: Event, **head: Any) -> list[Work]:
    """What ran on the only device."""
    trace = read_trace(written(path / "trace.json", *events, **head))
    assert isinstance(trace, Trace)
    return works_of(trace)
