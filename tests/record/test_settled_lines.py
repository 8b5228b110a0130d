"""3.12 and later: code whose lines are thinned out runs the very instructions of a plain run."""

import opcode
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

if sys.version_info < (3, 12):
    pytest.skip("Python 3.11 has ticks in the bytecode", allow_module_level=True)

from stepscope.native import _core
from stepscope.record.engines import lines

TURNS = 12_000  # a line of thinned code is switched off after 10,000 hits

SOURCE = """
def branches(low):
    x = low + 1
    if x > low:
        x += 1
    y = x
    return y

def comprehension(number):
    row = (1, 2, number)
    return [value + 1 for value in row]

def one_line_loop(number):
    for value in (1, 2, number): number += value
    return number

scaled = lambda value: value * 3

def pairs(a, b=2):
    c = a
    d = b
    return c + d

def seldom(a):
    if a == "never":
        return a
    return a

def generator(number):
    for value in range(3):
        yield value
    return number
"""

Functions = dict[str, FunctionType]


def made() -> Functions:
    space: dict[str, Any] = {}
    exec(compile(SOURCE, "<settled>", "exec"), space)
    return {name: thing for name, thing in space.items() if isinstance(thing, FunctionType)}


def call(function: Callable[..., Any]) -> None:
    for number in range(TURNS):
        found = function(number)
        if hasattr(found, "__next__"):
            list(found)


def opcodes(function: FunctionType) -> list[str]:
    """As they run now: specialised, joined, with events or without."""
    names = {number: name for name, number in getattr(opcode, "_specialized_opmap", {}).items()}
    running: bytes = function.__code__._co_code_adaptive
    plain = function.__code__.co_code
    return [
        names.get(now, opcode.opname[now])
        for now, then in zip(running[::2], plain[::2], strict=True)
        if then  # not a cache
    ]


@pytest.fixture
def thinned(tmp_path: Path) -> Iterator[Functions]:
    functions = made()
    _core.storage_open(str(tmp_path), 2**24)
    lines.engine_enable()
    for code in [lines.register_function(each, exact=False) for each in functions.values()]:
        _core.lines_thin(code)
    for function in functions.values():
        call(function)
    _core.lines_settle()
    yield functions
    lines.engine_disable()
    for function in functions.values():
        lines.forget_function(function)
    _core.storage_close()


def hits(function: FunctionType) -> list[int]:
    return [count for _, count, *_ in _core.lines_read(function.__code__)]


@pytest.mark.parametrize("name", [name for name in made() if name != "seldom"])
def test_nothing_is_left_of_lines_that_are_off(thinned: Functions, name: str) -> None:
    """The interpreter specialises in its own time, so both run on for a while."""
    plain = made()[name]
    for each in (plain, plain, thinned[name]):
        call(each)
    assert opcodes(thinned[name]) == opcodes(plain)


def test_a_line_that_was_hit_seldom_still_counts(thinned: Functions) -> None:
    before = hits(thinned["seldom"])
    for _ in range(5):
        thinned["seldom"]("never")
    after = hits(thinned["seldom"])
    assert sum(after) - sum(before) == 5


@pytest.mark.parametrize("name", ["branches", "comprehension", "one_line_loop", "pairs"])
def test_lines_that_are_off_come_back(thinned: Functions, name: str) -> None:
    """An operator window wants every line."""
    before = sum(hits(thinned[name]))
    sys.monitoring.restart_events()
    _core.lines_log(1000)
    thinned[name](1)
    plain_lines = _core.lines_log(0)
    assert sum(hits(thinned[name])) > before
    assert plain_lines > 0


def test_another_tools_line_events_stay(thinned: Functions) -> None:
    seen: list[int] = []
    tool, line = sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE
    sys.monitoring.use_tool_id(tool, "another")
    try:
        sys.monitoring.register_callback(tool, line, lambda code, number: seen.append(number))
        sys.monitoring.set_local_events(tool, thinned["pairs"].__code__, line)
        sys.monitoring.restart_events()
        call(thinned["pairs"])
        _core.lines_settle()
        seen.clear()
        thinned["pairs"](1)
        assert len(seen) == 3
    finally:
        sys.monitoring.set_local_events(tool, thinned["pairs"].__code__, 0)
        sys.monitoring.register_callback(tool, line, None)
        sys.monitoring.free_tool_id(tool)
