"""Two line profilers on one function, in the same process, turn by turn.

This is the cost of a line event alone: no boot, no sampler, no budget.
"""

import importlib
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

# Program to the function whose lines are asked for.
REGISTERED = {
    "tight_loop": "work",
    "calls_library": "work",
    "recursion": "fibonacci",
    "generator": "numbers",
}


def load(name: str) -> ModuleType:
    """A fresh copy: a profiler may leave its marks in the code it profiled."""
    sys.path.insert(0, str(PROGRAMS))
    try:
        sys.modules.pop(name, None)
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(PROGRAMS))


def profilers() -> dict[str, Callable[[], Any]]:
    import line_profiler

    import stepscope

    return {"stepscope": stepscope.LineProfiler, "line_profiler": line_profiler.LineProfiler}


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU time."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def seconds_under(profiler: Any, name: str) -> tuple[float, float]:
    program = load(name)
    profiler.add_function(getattr(program, REGISTERED[name]))
    profiler.enable_by_count()
    try:
        return seconds_of(program.work)
    finally:
        profiler.disable_by_count()


def compare(name: str, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Clock to tool to seconds, one a round."""
    makers = profilers()
    tools = ["plain", CONTROL, *makers]
    measured: dict[str, list[tuple[float, float]]] = {tool: [] for tool in tools}
    for order in turns(tools, rounds):
        for tool in order:
            make = makers.get(tool)
            seconds = seconds_under(make(), name) if make else seconds_of(load(name).work)
            measured[tool].append(seconds)
    return {
        "wall_s": {tool: [wall for wall, _ in times] for tool, times in measured.items()},
        "cpu_s": {tool: [cpu for _, cpu in times] for tool, times in measured.items()},
    }


def compare_all(rounds: int) -> dict[str, dict[str, dict[str, list[float]]]]:
    return {name: compare(name, rounds) for name in REGISTERED}
