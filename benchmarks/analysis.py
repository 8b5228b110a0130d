"""Times `stepscope show` on a run with ten thousand steps and a million operators, and
writes benchmarks/analysis.md.

The run is recorded: its script profiles all its steps itself, and the traces become the run's.
Every answer comes from its own process, and finds nothing that an earlier one kept.
`python -m benchmarks.analysis`
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import machine
from benchmarks.report import table

RESULTS = Path(__file__).parent / "analysis.md"
PROGRAM = Path(__file__).parent / "programs" / "torch_profiled_steps.py"
ROUNDS = 5
MB = 1_000_000
MOST_S = {"summary": 5.0, "findings": 5.0}
NO_LIMIT = ("steps", "lines", "ops", "memory")

INTRODUCTION = """# How long an answer takes

Made by `python -m benchmarks.analysis`; do not edit. Each time is that of a whole process, from its
start to its end: the median of {rounds}, and in brackets the shortest and the longest. Nothing
derived is kept between them; the files themselves are in the system's cache.
"""


class Answered(NamedTuple):
    seconds: float
    cpu_s: float
    peak_bytes: int


def stepscope(*words: str) -> Answered:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"'stepscope {' '.join(words)}' ended with {process.returncode}")
    seconds = time.perf_counter() - began
    return Answered(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def asked(run: Path, view: str) -> list[Answered]:
    answers = []
    for _ in range(ROUNDS):
        shutil.rmtree(run / "tables", ignore_errors=True)
        answers.append(stepscope("show", str(run), view))
    return answers


def row(view: str, answers: list[Answered]) -> list[str]:
    seconds = [each.seconds for each in answers]
    median, most = statistics.median(seconds), MOST_S.get(view)
    return [
        f"`show {view}`",
        f"under {most:g} s" if most else "",
        f"{median:.2f} s ({min(seconds):.2f}–{max(seconds):.2f})",
        f"{statistics.median(each.cpu_s for each in answers):.2f} s",
        f"{max(each.peak_bytes for each in answers) / MB:.0f} MB",
        "" if most is None else "yes" if median < most else "**no**",
    ]


class _Window(msgspec.Struct):
    operators: int


class _Ops(msgspec.Struct):
    windows: list[_Window]


class _Steps(msgspec.Struct):
    steps: int


def contents(run: Path) -> str:
    """What is in the run, from its own answers."""

    def answer(view: str) -> bytes:
        words = [sys.executable, "-m", "stepscope", "show", str(run), view, "--json"]
        return subprocess.run(words, check=True, capture_output=True).stdout

    windows = msgspec.json.decode(answer("ops"), type=_Ops).windows
    steps = msgspec.json.decode(answer("steps"), type=_Steps).steps
    size = sum(file.stat().st_size for file in run.glob("proc-*/ops-*"))
    operators = sum(window.operators for window in windows)
    return (
        f"{steps:,} steps and {operators:,} operators in {len(windows)} traces of "
        f"{size / MB:.0f} MB together"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analysis", description=__doc__)
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="keep and find the run here")
    asked_for = parser.parse_args()
    about = machine.describe()
    with tempfile.TemporaryDirectory() as made:
        run = asked_for.run or Path(made) / "run"
        if not (run / "run.json").exists():
            stepscope("run", "--quiet", "-o", str(run), str(PROGRAM))
        about_run = contents(run)
        rows = [row(view, asked(run, view)) for view in (*MOST_S, *NO_LIMIT)]
    text = f"""{INTRODUCTION.format(rounds=ROUNDS)}
{machine.sentence(about)}.
The run: {about_run}.

{table(["what", "limit", "takes", "CPU time", "memory at most", "holds"], rows)}
"""
    RESULTS.write_text(text)
    print(f"wrote {RESULTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
