"""Two line profilers on one function: the cost of a line event alone, without boot or sampler.

Each side runs in its own process, in turns: a profiler may leave traces in the interpreter and
in the code it profiled. `python -m benchmarks.inside SIDE PROGRAM` is one of them.
"""

import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.ratios import turns
from benchmarks.tools import CONTROL

PROGRAMS = Path(__file__).parent / "programs"
ROUNDS = 12
RUNS = 5  # in one process; the first ones warm up, the median counts

Times = dict[str, dict[str, list[float]]]  # clock -> side -> seconds, one per round

# Maps a program to the function whose lines are recorded.
REGISTERED = {
    "tight_loop": "work",
    "calls_library": "work",
    "recursion": "fibonacci",
    "generator": "numbers",
}


def load(name: str) -> ModuleType:
    """A fresh copy of a program."""
    sys.path.insert(0, str(PROGRAMS))
    try:
        sys.modules.pop(name, None)
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(PROGRAMS))


def stepscope_lines() -> Any:
    import stepscope

    return stepscope.LineProfiler()


def line_profiler_lines() -> Any:
    import line_profiler

    return line_profiler.LineProfiler()


SIDES: dict[str, Callable[[], Any] | None] = {
    "plain": None,
    CONTROL: None,
    "stepscope": stepscope_lines,
    "line_profiler": line_profiler_lines,
}


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU time."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def seconds_in_this_process(side: str, name: str) -> tuple[float, float]:
    program = load(name)
    make = SIDES[side]
    profiler = make() if make else None
    if profiler:
        profiler.add_function(getattr(program, REGISTERED[name]))
        profiler.enable_by_count()
    walls, cpus = zip(*(seconds_of(program.work) for _ in range(RUNS)), strict=True)
    if profiler:
        profiler.disable_by_count()
    return statistics.median(walls), statistics.median(cpus)


def seconds_in_a_process(side: str, name: str) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.inside", side, name]
    wall, cpu = json.loads(subprocess.check_output(command, cwd=PROGRAMS.parent.parent))
    return wall, cpu


def compare(name: str, rounds: int) -> Times:
    measured: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
    for order in turns(list(SIDES), rounds):
        for side in order:
            measured[side].append(seconds_in_a_process(side, name))
    return by_clock(measured)


def by_clock(measured: dict[str, list[tuple[float, float]]]) -> Times:
    return {
        "wall_s": {side: [wall for wall, _ in times] for side, times in measured.items()},
        "cpu_s": {side: [cpu for _, cpu in times] for side, times in measured.items()},
    }


def compare_all(rounds: int) -> dict[str, Times]:
    return {name: compare(name, rounds) for name in REGISTERED}


if __name__ == "__main__":
    print(json.dumps(seconds_in_this_process(sys.argv[1], sys.argv[2])))
