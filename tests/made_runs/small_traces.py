"""Small files of other profilers, made by hand: their figures can be counted on fingers."""

import gzip
import json
import marshal
import pickle
from pathlib import Path
from typing import Any

import xplane_writer

EPOCH_US = 1_700_000_000_000_000.0
Event = dict[str, Any]


def event(name: str, start_us: float, lasted_us: float, cat: str = "cpu_op", **more: Any) -> Event:
    at = {"ts": EPOCH_US + start_us, "dur": lasted_us, "pid": 7, "tid": 7}
    return {"ph": "X", "name": name, "cat": cat} | at | more


def kernel(name: str, start_us: float, lasted_us: float) -> Event:
    args = {"device": 0, "stream": 7}
    return event(name, start_us, lasted_us, "kernel", pid=0, tid=7, args=args)


def write_json(path: Path, events: list[Event], **head: Any) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, **head, "traceEvents": events}))
    return path


def rank_trace(
    path: Path, rank: int, *, steps: int = 6, late_us: float = 0.0, clock_us: float = 0.0
) -> Path:
    """Steps of 1 ms with a collective that ends 900 us into each, on all ranks. This one comes to
    it `late_us` later than after 500 us, and its clock is `clock_us` ahead."""
    events = []
    for step in range(steps):
        begin = 1000.0 * step + clock_us
        arrives = begin + 500 + late_us
        events += [
            event(f"ProfilerStep#{step}", begin, 1000, "user_annotation"),
            event("aten::mm", begin + 10, 50),
            kernel("gemm", begin + 20, 480 + late_us),
            kernel("ncclDevKernel_AllReduce(args)", arrives, begin + 900 - arrives),
        ]
    info = {"backend": "nccl", "rank": rank, "world_size": 2}
    return write_json(path, events, distributedInfo=info)


def stacks_trace(path: Path) -> Path:
    """main calls work twice; work calls an operator and, in all, lasts 60 us of main's 100."""
    events = [
        event("train.py(1): main", 0, 100, "python_function"),
        event("train.py(9): work", 10, 20, "python_function"),
        event("train.py(9): work", 40, 40, "python_function"),
        event("torch/nn/linear.py(5): forward", 45, 30, "python_function"),
        event("aten::add", 12, 5),
        event("aten::mm", 50, 20),
        memory_event(15, 400, 400),
        memory_event(55, 1000, 1400),
        memory_event(75, -400, 1000),
    ]
    return write_json(path, events)


def memory_event(at_us: float, size: int, total: int) -> Event:
    args = {"Bytes": size, "Total Allocated": total, "Device Type": 1, "Device Id": 0, "Addr": 64}
    at = {"ts": EPOCH_US + at_us, "pid": 7, "tid": 7, "s": "t"}
    return {"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "args": args} | at


def write_pstats(path: Path) -> Path:
    """outer calls inner 3 times and itself once."""
    outer, inner = ("train.py", 1, "outer"), ("train.py", 5, "inner")
    stats = {
        outer: (1, 2, 0.25, 1.0, {outer: (1, 0, 0.05, 0.1)}),
        inner: (3, 3, 0.75, 0.75, {outer: (3, 3, 0.75, 0.75)}),
    }
    path.write_bytes(marshal.dumps(stats))
    return path


def snapshot_of(frames: list[dict[str, Any]]) -> dict[str, Any]:
    """300 bytes are allocated, 100 of them freed, and 50 were there before."""
    actions = [("alloc", 100, 10), ("alloc", 200, 20), ("free_completed", 100, 30)]
    history = [
        {"action": what, "addr": 64, "size": size, "stream": 0, "time_us": at, "frames": frames}
        for what, size, at in actions
    ]
    blocks = [
        {"size": 200, "state": "active_allocated", "frames": frames},
        {"size": 50, "state": "active_allocated", "frames": []},
        {"size": 900, "state": "inactive", "frames": []},
    ]
    return {"segments": [{"device": 0, "blocks": blocks}], "device_traces": [history]}


def write_snapshot(path: Path) -> Path:
    frames = [
        {"name": "malloc", "filename": "Allocator.cpp", "line": 0},
        {"name": "forward", "filename": "/usr/lib/python3/site-packages/torch/nn.py", "line": 4},
        {"name": "train", "filename": "/home/ada/train.py", "line": 12},
    ]
    path.write_bytes(pickle.dumps(snapshot_of(frames)))
    return path


def viztracer_json(path: Path) -> Path:
    """outer calls inner, which calls a function of Python's own."""
    calls = [
        event("outer (/home/ada/train.py:2)", 0, 90, "fee"),
        event("inner (/home/ada/train.py:1)", 10, 60, "fee"),
        event("builtins.sum", 20, 50, "fee"),
    ]
    return write_json(path, calls)


def tensorflow_json(path: Path) -> Path:
    def named(pid: int, tid: int, process: str, thread: str) -> list[dict[str, object]]:
        at = {"ph": "M", "pid": pid}
        return [
            at | {"name": "process_name", "args": {"name": process}},
            at | {"name": "thread_name", "tid": tid, "args": {"name": thread}},
        ]

    def row(name: str, start: float, lasted: float, pid: int, tid: int, **args: str) -> object:
        times = {"ts": start, "dur": lasted, "pid": pid, "tid": tid}
        return {"ph": "X", "name": name} | times | ({"args": args} if args else {})

    events = [
        *named(701, 1, "/host:CPU", "python"),
        *named(3, 9, "/device:GPU:0", "Stream #9(Compute)"),
        *named(3, 8, "/device:GPU:0", "XLA Modules"),
        row("train", 0, 100, 701, 1, step_num="4"),
        row("train", 100, 100, 701, 1, step_num="5"),
        row("model/dense/MatMul:MatMul", 10, 20, 701, 1),
        row("dot.3", 130, 20, 701, 1, hlo_op="dot.3"),
        row("gemm", 50, 25, 3, 9),
        row("gemm", 150, 25, 3, 9),
        row("jit_step", 50, 25, 3, 8),
    ]
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    return path


def write_xplane(path: Path) -> Path:
    """A step with an operator and a kernel, and every kind of statistic."""
    host = xplane_writer.PlaneWriter("/host:CPU")
    host.describe("op", "shown", size=5, shape="[2]", kind=xplane_writer.Ref("fast"))
    line = host.line(1, "python", at_ns=500)
    line.event("train", 0, 100, step_num=3, _r=1)
    line.event("op", 1, 10, big=2**63 + 1, low=-4, share=0.5, kind=xplane_writer.Ref("slow"))
    line.event("cuLaunchKernel", 24, 5, correlation_id=8)
    device = xplane_writer.PlaneWriter("/device:GPU:0")
    device.line(7, "Stream #7").event("gemm", 30, 12, correlation_id=8)
    return xplane_writer.write(path, host, device, start_ns=10**18)
