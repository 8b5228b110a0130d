"""What the LineProfiler tests profile, and how they read what was counted."""

import importlib.util
import types
from pathlib import Path
from typing import Any

from stepscope.line_profiler import LineProfiler

PROGRAMS = Path(__file__).parent / "programs" / "line_profiler"
Hits = dict[tuple[int, str], dict[int, int]]  # (first line, function) to line to hits


def load(name: str) -> types.ModuleType:
    """A fresh module each time: both profilers replace code objects."""
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hits_of(profiler: Any) -> Hits:
    """The hits of our LineProfiler or line_profiler's own."""
    return {
        (first_line, name): {line: hits for line, hits, _ in rows}
        for (_, first_line, name), rows in profiler.get_stats().timings.items()
    }


def work(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


FIRST = work.__code__.co_firstlineno


def body_hits(profiler: LineProfiler) -> int:
    """The hits of the line `total += i`."""
    (lines,) = hits_of(profiler).values()
    return lines.get(FIRST + 3, 0)
