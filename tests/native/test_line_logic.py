"""The line engine's logic, event by event with times given, in C and in the plain reference."""

from collections.abc import Iterator
from types import CodeType
from typing import Protocol

import pytest
from hypothesis import given, settings

from native.line_events import LINES, Event, new_code, sequences
from stepscope.native import _core, reference
from stepscope.native.reference import CHANGED, EXIT, LINE, RESUME


class Engine(Protocol):
    def register(self, code: CodeType) -> None: ...
    def feed(self, kind: int, frame: int, code: CodeType, line: int, ticks: int) -> None: ...
    def read(self, code: CodeType) -> list[tuple[int, int, int]]: ...
    def calls(self, code: CodeType) -> int: ...


class Native:
    def __init__(self) -> None:
        _core.storage_open(None, 2**24)
        _core.lines_start()
        self._registered: list[CodeType] = []

    def register(self, code: CodeType) -> None:
        assert _core.lines_register(code, 1, 1, LINES, (), False)
        self._registered.append(code)

    def feed(self, kind: int, frame: int, code: CodeType, line: int, ticks: int) -> None:
        _core.feed(kind, frame, code, line, ticks)

    def read(self, code: CodeType) -> list[tuple[int, int, int]]:
        return [(line, hits, ticks) for line, hits, ticks, _ in _core.lines_read(code)]

    def calls(self, code: CodeType) -> int:
        return _core.lines_calls(code)

    def close(self) -> None:
        """What stays registered takes room in the storage of every later test."""
        _core.lines_stop()
        _core.storage_close()
        for code in self._registered:
            _core.lines_forget(code)


@pytest.fixture(params=["native", "reference"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "reference":
        yield reference.LineEngine()
        return
    native = Native()
    yield native
    native.close()


def test_a_line_lasts_until_the_next_one_begins(engine: Engine) -> None:
    code = new_code()
    engine.register(code)
    engine.feed(LINE, 100, code, 1, 1000)
    engine.feed(LINE, 100, code, 2, 1010)
    engine.feed(EXIT, 100, code, 0, 1030)
    assert engine.read(code) == [(1, 1, 10), (2, 1, 20)]


def test_a_callers_line_includes_its_callee(engine: Engine) -> None:
    caller, callee = new_code("caller"), new_code("callee")
    engine.register(caller)
    engine.register(callee)
    engine.feed(LINE, 100, caller, 5, 0)
    engine.feed(LINE, 200, callee, 1, 10)
    engine.feed(EXIT, 200, callee, 0, 60)
    engine.feed(LINE, 100, caller, 6, 100)
    assert engine.read(caller)[0] == (5, 1, 100)
    assert engine.read(callee) == [(1, 1, 50)]


def test_recursion_counts_each_activation(engine: Engine) -> None:
    code = new_code()
    engine.register(code)
    for depth in range(500):  # beyond the first stack block
        engine.feed(LINE, 100 + depth, code, 3, depth)
    for depth in reversed(range(500)):
        engine.feed(EXIT, 100 + depth, code, 0, 1000)
    assert engine.read(code) == [(3, 500, sum(1000 - depth for depth in range(500)))]
    assert engine.calls(code) == 500


def test_a_suspended_generator_does_not_count(engine: Engine) -> None:
    code = new_code()
    engine.register(code)
    engine.feed(LINE, 100, code, 1, 0)
    engine.feed(EXIT, 100, code, 0, 10)  # yield
    engine.feed(RESUME, 100, code, 1, 500)
    engine.feed(LINE, 100, code, 2, 507)
    engine.feed(EXIT, 100, code, 0, 510)
    assert engine.read(code) == [(1, 1, 17), (2, 1, 3)]
    assert engine.calls(code) == 1


def test_an_exception_that_lands_on_its_own_line_is_no_new_hit(engine: Engine) -> None:
    code = new_code()
    engine.register(code)
    engine.feed(LINE, 100, code, 7, 0)
    engine.feed(CHANGED, 100, code, 7, 5)
    engine.feed(CHANGED, 100, code, 8, 9)
    engine.feed(EXIT, 100, code, 0, 10)
    assert engine.read(code) == [(7, 1, 9), (8, 1, 1)]


def test_an_exit_that_was_never_entered_is_ignored(engine: Engine) -> None:
    code = new_code()
    engine.register(code)
    engine.feed(EXIT, 100, code, 0, 10)
    engine.feed(LINE, 200, code, 1, 20)
    engine.feed(EXIT, 100, code, 0, 30)
    engine.feed(EXIT, 200, code, 0, 40)
    assert engine.read(code) == [(1, 1, 20)]


def test_an_exit_below_the_top_ends_what_lies_above_it(engine: Engine) -> None:
    outer, inner = new_code("outer"), new_code("inner")
    engine.register(outer)
    engine.register(inner)
    engine.feed(LINE, 100, outer, 1, 0)
    engine.feed(LINE, 200, inner, 1, 10)  # its end is never seen
    engine.feed(EXIT, 100, outer, 0, 100)
    engine.feed(LINE, 300, inner, 2, 200)
    engine.feed(EXIT, 300, inner, 0, 201)
    assert engine.read(outer) == [(1, 1, 100)]
    assert engine.read(inner) == [(1, 1, 0), (2, 1, 1)]


@given(sequences(shortest_ticks=0, most=80))
@settings(max_examples=300)
def test_both_engines_agree_on_any_sequence_of_events(sequence: list[Event]) -> None:
    codes = [new_code(name) for name in "abc"]
    native, plain = Native(), reference.LineEngine()
    try:
        for code in codes:
            native.register(code)
            plain.register(code)
        now = 0
        for kind, frame, which, line, elapsed in sequence:
            now += elapsed
            native.feed(kind, frame * 64, codes[which], line, now)
            plain.feed(kind, frame * 64, codes[which], line, now)
        for code in codes:
            assert native.read(code) == plain.read(code)
            assert native.calls(code) == plain.calls(code)
    finally:
        native.close()
