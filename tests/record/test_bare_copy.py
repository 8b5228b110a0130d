"""Python 3.11: code whose lines are thinned out runs its copy without ticks, and does the same."""

import gc
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from record.line_counts import PROGRAMS, programs, run
from stepscope.native import _core
from stepscope.record.engines import lines

ENOUGH = 10_000  # hits: then a line of thinned code is switched off
WAYS = ("", "caught", "raised", "frame")

Functions = dict[str, FunctionType]


def load() -> Functions:
    space = runpy.run_path(str(PROGRAMS / "hot_and_cold.py"))
    return {name: thing for name, thing in space.items() if isinstance(thing, FunctionType)}


@pytest.fixture
def thinned() -> Iterator[Functions]:
    """Their hottest lines are switched off, and the others count on."""
    functions = load()
    lines.engine_enable()
    codes = [lines.register_function(each, exact=False) for each in functions.values()]
    for code in codes:
        _core.lines_thin(code)
    for _ in range(ENOUGH + 10):
        functions["ways"](1)
        list(functions["delegated"](1))
    yield functions
    lines.engine_disable()
    for function in functions.values():
        lines.forget_function(function)


def hits(function: FunctionType) -> dict[int, int]:
    first = function.__code__.co_firstlineno
    return {line - first: count for line, count, *_ in _core.lines_read(function.__code__)}


def outcome(functions: Functions, way: str) -> Any:
    try:
        return functions["ways"](1, way)
    except ZeroDivisionError as error:
        place: Any = error.__traceback__
        inside = place.tb_next
        return inside.tb_lasti, inside.tb_lineno, traceback.format_tb(inside)


def sent_and_thrown(functions: Functions, name: str) -> list[Any]:
    generator = functions[name](4)
    seen = [next(generator), generator.send("sent"), next(generator), generator.throw(KeyError)]
    return [*seen, generator.gi_frame.f_lasti, generator.gi_frame.f_lineno, list(generator)]


def test_what_runs_in_the_copy_does_the_same(thinned: Functions) -> None:
    plain = load()
    assert [outcome(thinned, way) for way in WAYS] == [outcome(plain, way) for way in WAYS]
    for name in ("counted", "delegated"):
        assert sent_and_thrown(thinned, name) == sent_and_thrown(plain, name)


def test_hot_lines_count_no_more_and_cold_ones_exactly(thinned: Functions) -> None:
    before = hits(thinned["ways"])
    assert before[1] == ENOUGH
    for _ in range(100):
        for way in WAYS:
            outcome(thinned, way)
    after = hits(thinned["ways"])
    assert after[1] == ENOUGH
    new = {line: after[line] - before.get(line, 0) for line in after if before.get(line, 0) < 100}
    cold = dict.fromkeys((6, 8, 9, 10, 12, 16, 18), 100) | {17: 200}
    assert new == cold


def test_a_cold_line_that_becomes_hot_is_switched_off_too(thinned: Functions) -> None:
    for _ in range(2 * ENOUGH):
        outcome(thinned, "caught")
    assert hits(thinned["ways"])[18] == ENOUGH


def lines_seen(functions: Functions, way: str) -> list[tuple[str, int]]:
    seen: list[tuple[str, int]] = []

    def see(frame: Any, event: str, _argument: object) -> Any:
        if frame.f_code is functions["ways"].__code__:
            seen.append((event, frame.f_lineno))
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        outcome(functions, way)
    finally:
        sys.settrace(before)
    return seen


def instructions_run(function: FunctionType) -> int:
    count = 0

    def see(frame: Any, event: str, _argument: object) -> Any:
        nonlocal count
        if frame.f_code is not function.__code__:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        function(1)
    finally:
        sys.settrace(before)
    return count


def test_of_all_ticks_a_jump_is_left(thinned: Functions) -> None:
    assert instructions_run(thinned["ways"]) == instructions_run(load()["ways"]) + 1


@pytest.mark.parametrize("way", WAYS)
def test_a_trace_function_sees_each_line_once(thinned: Functions, way: str) -> None:
    plain = lines_seen(load(), way)
    lines_seen(thinned, way)  # the first call may see a cold line twice: it leaves the copy then
    assert lines_seen(thinned, way) == plain


def test_ticks_that_are_wanted_again_count_again(thinned: Functions) -> None:
    running = thinned["counted"](3)
    next(running)  # suspended in the copy
    before = hits(thinned["counted"])
    _core.lines_log(1_000)
    try:
        thinned["ways"](1)
        assert list(running) == [1, 2]
    finally:
        _core.lines_log(0)
    assert hits(thinned["ways"])[1] == ENOUGH + 1
    assert hits(thinned["counted"])[6] == before[6] + 3


def test_a_stopped_engine_lets_everything_run_as_before(thinned: Functions) -> None:
    lines.engine_disable()
    try:
        assert thinned["ways"](1) == load()["ways"](1)
        assert sent_and_thrown(thinned, "counted") == sent_and_thrown(load(), "counted")
    finally:
        lines.engine_enable()
    thinned["ways"](1)
    assert hits(thinned["ways"])[1] >= ENOUGH


@pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)
def test_every_program_prints_the_same_from_its_copies(program: Path) -> None:
    """After a recording, every first tick leads to the copy."""

    def registered(code: CodeType) -> CodeType:
        _core.storage_open(None, 2**20)
        try:
            return lines.register_code(code)
        finally:
            _core.storage_close()

    assert not lines.is_enabled()
    _core.storage_close()
    assert run(program, registered) == run(program, lambda code: code)
    gc.collect()
