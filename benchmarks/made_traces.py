"""Traces of any size, as torch.profiler writes them of a training on a device: operators with
shapes, calls into the device's library, kernels, in steps of a thousand events; 250 bytes an event.

`python -m benchmarks.made_traces FILE EVENTS`
"""

import gzip
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

STEP = 1_000  # events
EPOCH_US = 1_700_000_000_000_000
NAMES = ("aten::mm", "aten::add", "aten::relu", "aten::convolution", "aten::layer_norm")
_BLOCK = 20_000  # events that are written together
_LEVEL = 1  # of gzip: these files shrink well
_OPERATOR = (
    '{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 41, "tid": 41, "ts": {ts:.3f}, '
    '"dur": 9.250, "args": {{"External id": {id}, "Record function id": {id}, "Ev Idx": {id}, '
    '"Input Dims": [[32, {width}], [64]], "Input type": ["float", "float"]}}}}'
)
_LAUNCH = (
    '{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 41, "tid": 41, '
    '"ts": {ts:.3f}, "dur": 3.125, '
    '"args": {{"External id": {id}, "cbid": 211, "correlation": {id}}}}}'
)
_KERNEL = (
    '{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {ts:.3f}, '
    '"dur": 8.750, "args": {{"External id": {id}, "queued": 0, "device": 0, "context": 1, '
    '"stream": 7, "correlation": {id}, "registers per thread": 40, "shared memory": 400, '
    '"blocks per SM": 4.740741, "warps per SM": 75.851852, "grid": [512, 1, 1], '
    '"block": [512, 1, 1], "est. achieved occupancy %": 75}}}}'
)
_MARK = (
    '{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{step}", "pid": 41, "tid": 41, '
    '"ts": {ts:.3f}, "dur": {dur:.3f}, "args": {{}}}}'
)


def events(count: int) -> Iterator[str]:
    """A third each: operators, launches, kernels; a mark around each step."""
    for number in range(count // 3):
        at = EPOCH_US + 12.5 * number
        if number % (STEP // 3) == 0:
            yield _MARK.format(step=number * 3 // STEP, ts=at, dur=12.5 * STEP / 3)
        name, width = NAMES[number % len(NAMES)], 64 + number % 7
        yield _OPERATOR.format(name=name, ts=at + 0.5, id=number, width=width)
        yield _LAUNCH.format(ts=at + 2, id=number)
        yield _KERNEL.format(name=kernel(number), ts=at + 6, id=number)


def kernel(number: int) -> str:
    """Every hundredth is a collective."""
    return "ncclDevKernel_AllReduce" if number % 100 == 99 else f"gemm_{number % 50}"


def make(path: Path, count: int, rank: int = 0) -> Path:
    """Zipped if its name says so."""
    info = json.dumps({"backend": "nccl", "rank": rank, "world_size": 2})
    written, is_first = events(count), True
    with gzip.open(path, "wb", _LEVEL) if path.name.endswith(".gz") else open(path, "wb") as file:
        file.write(f'{{"schemaVersion": 1, "distributedInfo": {info}, "traceEvents": [\n'.encode())
        while block := list(itertools.islice(written, _BLOCK)):
            file.write((("" if is_first else ",\n") + ",\n".join(block)).encode())
            is_first = False
        file.write(b"\n]}")
    return path


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
