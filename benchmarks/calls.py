"""Exact calls compared with cProfile, in the same process, in turns.

This is the cost of counting calls alone: no boot, no lines, no sampler.
"""

import cProfile
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from benchmarks.inside import Times, by_clock, load, seconds_of
from stepscope.native import _core
from stepscope.record.engines import calls

PROGRAMS = ("recursion", "builtins_mix")
ROUNDS = 15
STORAGE_BYTES = 2**26


@contextmanager
def stepscope_calls() -> Iterator[None]:
    known: dict[object, int] = {}
    _core.functions_hook(lambda function: known.setdefault(function, len(known) + 1))
    _core.storage_open(None, STORAGE_BYTES, True)
    calls.start(lambda trouble: sys.exit(trouble))
    try:
        yield
    finally:
        calls.stop()
        _core.storage_close()
        _core.functions_hook(None)


TOOLS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "plain": nullcontext,
    "stepscope": stepscope_calls,
    "cProfile": cProfile.Profile,
}


def compare(name: str, rounds: int) -> Times:
    """The first round warms up and is left out."""
    measured: dict[str, list[tuple[float, float]]] = {tool: [] for tool in TOOLS}
    for number in range(rounds + 1):
        for tool, watch in TOOLS.items():
            program = load(name)
            with watch():
                seconds = seconds_of(program.work)
            if number:
                measured[tool].append(seconds)
    return by_clock(measured)


def compare_all(rounds: int) -> dict[str, Times]:
    return {name: compare(name, rounds) for name in PROGRAMS}
