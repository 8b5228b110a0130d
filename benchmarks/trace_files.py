"""Makes traces of any size, asks `stepscope` for their summary, and writes
benchmarks/trace_files.md: CPU time and the most memory.

The events are like those that torch.profiler writes of a training with a device: operators with
shapes, calls into the device's library, kernels, steps of a thousand events.
`python -m benchmarks.trace_files [EVENTS...]`; `--make FILE EVENTS` only makes a file.
"""

import gzip
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.analysis import MB, Answered, stepscope
from benchmarks.report import table

RESULTS = Path(__file__).parent / "trace_files.md"
SIZES = (100_000, 1_000_000)
ROUNDS = 3
STEP = 1_000  # events
EPOCH_US = 1_700_000_000_000_000.0
NAMES = ("aten::mm", "aten::add", "aten::relu", "aten::convolution", "aten::layer_norm")
INTRODUCTION = """# What a trace of another tool costs

Made by `python -m benchmarks.trace_files`; do not edit. CPU time of the whole command, the median
of {rounds}, and the most memory that it had.

"""


def events(count: int) -> Iterator[dict[str, Any]]:
    """A third each: operators, launches, kernels; a mark around each step."""
    for number in range(count // 3):
        at = EPOCH_US + 12.5 * number
        if number % (STEP // 3) == 0:
            yield of("user_annotation", f"ProfilerStep#{number * 3 // STEP}", at, 12.5 * STEP / 3)
        args = {"External id": number, "Input Dims": [[32, 64 + number % 7], [64]]}
        yield of("cpu_op", NAMES[number % len(NAMES)], at + 0.5, 9.25, **args)
        join = {"External id": number, "correlation": number}
        yield of("cuda_runtime", "cudaLaunchKernel", at + 2, 3.125, **join)
        yield of("kernel", f"gemm_{number % 50}", at + 6, 8.75, device=0, stream=7, **join)


def of(category: str, name: str, start_us: float, lasted_us: float, **args: Any) -> dict[str, Any]:
    where = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 41, "tid": 41}
    at = {"ts": start_us, "dur": lasted_us}
    return {"ph": "X", "cat": category, "name": name} | where | at | {"args": args}


def make(path: Path, count: int, rank: int = 0) -> Path:
    """Zipped if its name says so."""
    opened = gzip.open if path.name.endswith(".gz") else open
    info = json.dumps({"backend": "nccl", "rank": rank, "world_size": 2})
    with opened(path, "wt") as file:
        file.write(f'{{"schemaVersion": 1, "distributedInfo": {info}, "traceEvents": [\n')
        for number, event in enumerate(events(count)):
            file.write(("" if number == 0 else ",\n") + json.dumps(event))
        file.write("\n]}")
    return path


def row(what: str, path: Path, *words: str) -> list[str]:
    answers = [stepscope(*words) for _ in range(ROUNDS)]
    return [what, f"{size_of(path) / MB:,.0f} MB", *figures(answers)]


def figures(answers: list[Answered]) -> list[str]:
    cpu_s = statistics.median(each.cpu_s for each in answers)
    return [f"{cpu_s:.2f} s", f"{max(each.peak_bytes for each in answers) / MB:,.0f} MB"]


def size_of(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def measured(folder: Path, count: int) -> Iterator[list[str]]:
    plain = make(folder / f"{count}.json", count)
    yield row(f"`show` of {count:,} events", plain, "show", str(plain))
    plain.unlink()
    zipped = make(folder / f"{count}.json.gz", count)
    yield row(f"`show` of {count:,} events, zipped", zipped, "show", str(zipped))
    zipped.unlink()


def main(words: list[str]) -> None:
    if words[:1] == ["--make"]:
        make(Path(words[1]), int(words[2]))
        return
    sizes = [int(word) for word in words] or SIZES
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for size in sizes for row in measured(Path(folder), size)]
    head = ["what", "file", "CPU time", "memory at most"]
    RESULTS.write_text(INTRODUCTION.format(rounds=ROUNDS) + table(head, rows) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main(sys.argv[1:])
