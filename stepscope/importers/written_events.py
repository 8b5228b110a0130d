"""A trace's events one by one, in Kineto's form, from its columns."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from stepscope.importers.trace import Category, Trace

Event = dict[str, Any]
Written = tuple[Event, int, int]  # its start in Unix ns, and its duration in ns
_WORDS: Final = {
    Category.OTHER: "runtime",
    Category.OP: "cpu_op",
    Category.ANNOTATION: "user_annotation",
    Category.RUNTIME: "cuda_runtime",
    Category.KERNEL: "kernel",
    Category.MEMCPY: "gpu_memcpy",
    Category.MEMSET: "gpu_memset",
    Category.PYTHON: "python_function",
}
_COLUMNS: Final = ("name", "category", "thread", "correlation", "start_ns", "duration_ns")


def events_of(trace: Trace) -> Iterator[Written]:
    for number in np.unique(trace.events["thread"]).tolist():
        thread = trace.threads[number]
        here: Event = {"ph": "M", "pid": thread.process, "tid": thread.thread}
        yield here | {"name": "process_name", "args": {"name": thread.process}}, 0, 0
        if thread.name:
            yield here | {"name": "thread_name", "args": {"name": thread.name}}, 0, 0
    columns = (trace.events[name].tolist() for name in _COLUMNS)
    for name, category, number, correlation, start_ns, duration_ns in zip(*columns, strict=True):
        thread = trace.threads[number]
        event: Event = {
            "ph": "X", "name": trace.names[name], "cat": _WORDS[category], "pid": thread.process,
            "tid": thread.thread, "args": {"correlation": correlation} if correlation >= 0 else {},
        }  # fmt: skip
        yield event, start_ns, duration_ns
