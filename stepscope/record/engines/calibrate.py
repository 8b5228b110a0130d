"""What one event of the line engine costs on this machine, measured in the recorded process."""

import functools
import time
from collections.abc import Callable
from types import FunctionType

from stepscope.native import _core
from stepscope.record.engines import lines
from stepscope.typed import Record

TURNS = 100  # of each loop
ROUNDS = 5  # the best counts: together 0.3 ms


class EventCost(Record):
    line_ns: float
    exit_ns: float


def _many_lines(turns: int) -> int:
    total = 0
    for turn in range(turns):
        total += turn
        total ^= 3
        total += 1
    return total


def many_calls(turns: int) -> int:
    total = 0
    for _ in range(turns):
        total += _one_call()
    return total


def _one_call() -> int:
    return 1


@functools.cache
def measure_event_cost() -> EventCost:
    """Once per process: the same loops with and without events, the best of a few; 0.3 ms."""
    functions = [each for each in (_many_lines, _one_call) if isinstance(each, FunctionType)]
    plain_lines, plain_calls = best_ns(_many_lines), best_ns(many_calls)
    lines.engine_enable()
    try:
        for function in functions:
            lines.register_function(function, exact=True)
        line_ns = (best_ns(_many_lines) - plain_lines) / (4 * TURNS)
        call_ns = (best_ns(many_calls) - plain_calls) / TURNS
    finally:
        lines.engine_disable()
    for function in functions:
        lines.forget_function(function)
    # Never 0: a noisy machine must not make events look free.
    line_ns = max(line_ns, 5.0)
    return EventCost(line_ns=line_ns, exit_ns=max(call_ns - line_ns, 5.0))


def best_ns(function: Callable[[int], int]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        function(TURNS)
        best = min(best, time.perf_counter_ns() - began)
    return best


def ns_to_ticks(duration_ns: float) -> float:
    return duration_ns * _core.ticks_per_ns()
