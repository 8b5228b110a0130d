"""Loops are found in bytecode, nested as in the source, at lines that mark their iterations."""

import collections
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from stepscope.record.code.loops import Loop, find_loops

PROGRAM = Path(__file__).parent.parent / "programs" / "lines" / "step_loops.py"

Hits = collections.Counter[tuple[str, int]]


def tree(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from tree(const)


def loops_of(source: str, name: str = "f") -> list[tuple[int, int, int | None]]:
    code = compile(source, "<t>", "exec")
    (wanted,) = [part for part in tree(code) if part.co_name == name]
    return [(loop.line, loop.last_line, loop.parent) for loop in find_loops(wanted)]


if sys.version_info >= (3, 12):

    @contextmanager
    def line_events(codes: list[CodeType]) -> Iterator[Hits]:
        hits: Hits = Hits()
        monitoring = sys.monitoring

        def on_line(code: CodeType, line: int) -> None:
            hits[(code.co_qualname, line)] += 1

        monitoring.use_tool_id(4, "test")
        monitoring.register_callback(4, monitoring.events.LINE, on_line)
        for code in codes:
            monitoring.set_local_events(4, code, monitoring.events.LINE)
        try:
            yield hits
        finally:
            monitoring.register_callback(4, monitoring.events.LINE, None)
            monitoring.free_tool_id(4)

else:

    @contextmanager
    def line_events(codes: list[CodeType]) -> Iterator[Hits]:
        hits: Hits = Hits()

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                hits[(frame.f_code.co_qualname, frame.f_lineno)] += 1
            return trace if frame.f_code in codes else None

        sys.settrace(trace)
        try:
            yield hits
        finally:
            sys.settrace(None)


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, tuple[Loop, ...]], Hits, dict[str, int]]:
    """Loops by function, line events, and the turns that the program counted itself."""
    code = compile(PROGRAM.read_text(), str(PROGRAM), "exec")
    codes = list(tree(code))
    space: dict[str, Any] = {"__name__": "__main__"}
    with line_events(codes) as hits:
        exec(code, space)
    return {part.co_qualname: find_loops(part) for part in codes}, hits, space["turns"]


# function, which of its loops, events in all: turns + one for each time the loop was exhausted
EXPECTED = [
    ("epochs", 0, lambda turns: turns["epochs.epoch"] + 1),
    ("epochs", 1, lambda turns: turns["epochs.batch"] + 3),
    ("epochs", 2, lambda turns: turns["epochs.evaluate"] + 2),
    ("until", 0, lambda turns: turns["until"] + 1),
    ("forever", 0, lambda turns: turns["forever.outer"]),
    ("forever", 1, lambda turns: turns["forever.inner"]),
    ("loop_first", 0, lambda turns: turns["loop_first.outer"]),
    ("loop_first", 1, lambda turns: turns["loop_first.inner"] + 3),
    ("retry", 0, lambda turns: turns["retry"]),  # left by break
    ("retry", 1, lambda turns: turns["retry.handler"] + 3),
    ("retry", 2, lambda turns: turns["retry.forever"]),
    ("call_over_lines", 0, lambda turns: turns["call_over_lines"]),
    ("cleanup", 0, lambda turns: turns["cleanup.for"] + 1),  # once left by return
    # 3.14 does not report the line at which a `finally` is entered from the end of a loop.
    ("cleanup", 1, lambda turns: turns["cleanup.finally"] + 1 + (sys.version_info < (3, 14))),
    ("ticker", 0, lambda turns: turns["ticker"] + 2),
    ("asynchronous", 0, lambda turns: turns["asynchronous"] + 1),
]


@pytest.mark.parametrize(("function", "index", "expected"), EXPECTED, ids=lambda v: str(v)[:30])
def test_the_line_of_a_loop_fires_once_a_turn(
    recorded: Any, function: str, index: int, expected: Any
) -> None:
    loops, hits, turns = recorded
    loop = loops[function][index]
    assert hits[(function, loop.line)] == expected(turns)


def test_a_condition_over_several_lines_fires_once_a_turn_or_once_more(recorded: Any) -> None:
    loops, hits, turns = recorded
    (loop,) = loops["condition_over_lines"]
    count = turns["condition_over_lines"]
    assert hits[("condition_over_lines", loop.line)] in (count, count + 1)


def test_every_loop_of_the_program_is_found_and_nested(recorded: Any) -> None:
    loops, _, _ = recorded
    parents = {name: [loop.parent for loop in found] for name, found in loops.items() if found}
    assert parents == {
        "epochs": [None, 0, 0],
        "until": [None],
        "forever": [None, 0],
        "loop_first": [None, 0],
        "retry": [None, 0, None],
        "call_over_lines": [None],
        "condition_over_lines": [None],
        "cleanup": [None, None],
        "ticker": [None],
        "asynchronous": [None],
        "drive": [None],
    }


def test_a_for_loop_reaches_from_its_header_to_its_last_line() -> None:
    source = "def f(y):\n for x in y:\n  a = x\n  if a:\n   b = 2\n c = 3\n"
    assert loops_of(source) == [(2, 5, None)]


def test_a_return_through_a_finally_does_not_stretch_the_loop() -> None:
    source = "def f(y):\n try:\n  for x in y:\n   if x: return 1\n finally:\n  print()\n"
    assert loops_of(source) == [(3, 4, None)]


def test_a_while_loop_is_stamped_at_its_condition() -> None:
    source = "def f(n):\n n += 1\n while n:\n  n -= 1\n  if n == 3: continue\n return n\n"
    assert loops_of(source) == [(3, 5, None)]


def test_an_endless_loop_is_stamped_at_its_first_line() -> None:
    first = 2 if sys.version_info >= (3, 14) else 3  # 3.14 has an instruction for `while True`
    assert loops_of("def f(n):\n while True:\n  n()\n  n(2)\n") == [(first, 4, None)]


def test_an_endless_loop_around_a_loop_has_a_line_of_its_own() -> None:
    source = "def f(y):\n while True:\n  for x in y:\n   x()\n"
    assert loops_of(source) == [(2, 4, None), (3, 4, 0)]


def test_a_loop_on_one_line_is_found_where_its_turns_give_events() -> None:
    expected = [(2, 2, None)] if sys.version_info < (3, 12) else []
    assert loops_of("def f(y):\n for x in y: x()\n") == expected
    assert loops_of("def f(y):\n while y: y()\n") == expected


def test_handlers_that_jump_back_are_no_loops() -> None:
    source = "def f(y):\n try:\n  y()\n except KeyError:\n  y(1)\n y(2)\n return y\n"
    assert loops_of(source) == []


def test_waiting_is_no_loop() -> None:
    source = "async def f(y):\n async with y:\n  await y\n try:\n  await y\n except E:\n  await y\n"
    assert loops_of(source) == []


def test_delegating_is_no_loop() -> None:
    assert loops_of("def f(y):\n x = yield from y\n yield x\n") == []


@pytest.mark.parametrize(
    "expression",
    ["[x for x in y]", "{x for x in y if x}", "{x: x for z in y for x in z}", "(x for x in y)",
     "[[x for x in z] for z in y]", "[x for x in y if (a or\n b)]"],
)  # fmt: skip
def test_comprehensions_are_no_loops(expression: str) -> None:
    source = f"def f(y):\n return {expression}\n"
    found = [find_loops(part) for part in tree(compile(source, "<t>", "exec"))]
    assert set(found) == {()}


def test_a_loop_around_a_comprehension_is_found() -> None:
    source = "def f(y):\n for z in y:\n  w = [x\n   for x in z]\n  w()\n"
    assert loops_of(source) == [(2, 5, None)]


def test_a_loop_too_long_for_short_jumps_is_found() -> None:
    body = "\n".join(f"  x({i + 1000})" for i in range(300))
    assert loops_of(f"def f(y, x):\n for z in y:\n{body}\n return x\n") == [(2, 302, None)]
    assert loops_of(f"def f(y, x):\n while y():\n{body}\n return x\n") == [(2, 302, None)]


def test_module_and_class_bodies_have_loops_too() -> None:
    source = "class f:\n for x in 'ab':\n  y = x\nfor z in 'ab':\n w = z\n"
    assert loops_of(source) == [(2, 3, None)]
    assert loops_of(source, "<module>") == [(4, 5, None)]


def test_the_standard_library_has_no_loop_that_breaks_the_finder() -> None:
    import argparse
    import asyncio.base_events
    import inspect
    import tarfile

    found = 0
    for module in (argparse, asyncio.base_events, inspect, tarfile):
        path = Path(str(module.__file__))
        for code in tree(compile(path.read_text(), str(path), "exec")):
            loops = find_loops(code)
            found += len(loops)
            assert all(loop.line <= loop.last_line for loop in loops), code
            assert all(loop.parent != i for i, loop in enumerate(loops)), code
    assert found > 150
