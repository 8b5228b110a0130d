"""Two runs made by hand: a loop of steps, with phases and stacks whose times are known."""

from pathlib import Path
from typing import Any

from build import MS, RunBuilder
from stepscope.analyze.run import load
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

TRAIN = "\n".join(
    ["import numpy", "", "def read(path):", "    return numpy.load(path)", "", "def train():",
     "    for step in range(60):", "        batch = read('a.npz')", "        update(batch)"]
)  # fmt: skip


def trained(
    path: Path,
    *,
    input_ms: int,
    rest_ms: int,
    steps: int = 60,
    samples: int = 0,
    text: str = TRAIN,
    read_line: int = 4,
    without_core_ms: int = 0,
    cpu_ms: int = 0,
    **fields: Any,
) -> Run:
    """Steps of `input_ms` in `read` and `rest_ms` in `train`."""
    builder = RunBuilder(path, **fields)
    process = builder.process()
    process.file(text=text)
    read, train = process.function("read", line=3), process.function("train", line=6)
    in_train = process.node(train, line=9)
    in_read = process.node(read, process.node(train, line=8), line=read_line)
    process.step(0, begins=True)
    at_ns = 0
    for number in range(steps):
        middle_ns = at_ns + input_ms * MS
        process.span(SpanCategory.INPUT, at_ns, middle_ns)
        process.sample(in_read, at_ns, input_ms * MS, count=max(1, input_ms))
        process.sample(in_train, middle_ns, rest_ms * MS, count=rest_ms)
        process.counter(CpuTimes, at_ns, thread_ns=number * cpu_ms * MS)
        delay_ns = number * without_core_ms * MS
        process.counter(Memory, at_ns, resident_bytes=2**20, run_delay_ns=delay_ns)
        at_ns = middle_ns + rest_ms * MS
        process.step(at_ns, samples)
    process.write(at_ns)
    return load(path)
