"""The call engine's logic, event by event with times given, in C and in the plain reference."""

from collections.abc import Iterator
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.native import _core, reference

Paths = dict[tuple[int, ...], tuple[int, int]]


class Engine(Protocol):
    def feed(self, entering: bool, function: int, ticks: int) -> None: ...
    def read(self) -> Paths: ...


class Native:
    def __init__(self) -> None:
        _core.storage_open(None, 2**26, True)
        _core.calls_start()

    def feed(self, entering: bool, function: int, ticks: int) -> None:
        _core.calls_feed(entering, function, ticks)

    def read(self) -> Paths:
        """Without what this test's own functions add: those have no name, so function 0."""
        paths: dict[int, tuple[int, ...]] = {}
        found: Paths = {}
        for node, parent, function, calls, ticks in _core.calls_read():
            paths[node] = (*paths[parent], function) if parent else ()
            if parent and 0 not in paths[node]:
                found[paths[node]] = calls, ticks
        return found

    def close(self) -> None:
        _core.calls_stop()
        _core.storage_close()


@pytest.fixture(params=["native", "reference"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "reference":
        yield reference.CallEngine()
        return
    native = Native()
    yield native
    native.close()


def enter(engine: Engine, *functions: int, at: int = 1) -> None:
    for function in functions:
        engine.feed(True, function, at)


def test_a_call_lasts_from_its_beginning_to_its_end(engine: Engine) -> None:
    engine.feed(True, 1, 100)
    engine.feed(False, 1, 130)
    assert engine.read() == {(1,): (1, 30)}


def test_a_caller_includes_its_callee(engine: Engine) -> None:
    engine.feed(True, 1, 100)
    engine.feed(True, 2, 110)
    engine.feed(False, 2, 160)
    engine.feed(False, 1, 200)
    assert engine.read() == {(1,): (1, 100), (1, 2): (1, 50)}


def test_paths_are_kept_apart(engine: Engine) -> None:
    for caller in (1, 2, 1):
        enter(engine, caller, 3)
        engine.feed(False, 3, 11)
        engine.feed(False, caller, 11)
    assert engine.read() == {(1,): (2, 20), (1, 3): (2, 20), (2,): (1, 10), (2, 3): (1, 10)}


def test_recursion_is_a_path_of_its_own_at_each_depth(engine: Engine) -> None:
    enter(engine, *[7] * 500)  # beyond the first stack block
    for _ in range(500):
        engine.feed(False, 7, 11)
    assert engine.read() == {(7,) * depth: (1, 10) for depth in range(1, 501)}


def test_an_end_ends_what_lies_above_it(engine: Engine) -> None:
    enter(engine, 1, 2, 3)
    engine.feed(False, 2, 21)
    engine.feed(False, 1, 31)
    assert engine.read() == {(1,): (1, 30), (1, 2): (1, 20), (1, 2, 3): (1, 20)}


def test_an_end_without_a_beginning_counts_below_what_was_seen_to_begin(engine: Engine) -> None:
    engine.feed(True, 1, 10)
    engine.feed(False, 2, 20)
    engine.feed(False, 1, 30)
    assert engine.read() == {(1,): (1, 20), (1, 2): (1, 0)}


def test_an_end_of_what_began_before_all_is_ignored(engine: Engine) -> None:
    engine.feed(False, 1, 10)
    engine.feed(True, 2, 20)
    engine.feed(False, 2, 30)
    assert engine.read() == {(2,): (1, 10)}


@pytest.mark.parametrize("children", [15, 16, 17, 18, 1000])
def test_a_function_may_call_any_number_of_others(engine: Engine, children: int) -> None:
    engine.feed(True, 1, 1)
    for turn in range(3):
        for function in range(2, children + 2):
            engine.feed(True, function, 10 + turn)
            engine.feed(False, function, 12 + turn)
    engine.feed(False, 1, 101)
    expected: Paths = {(1, function): (3, 6) for function in range(2, children + 2)}
    assert engine.read() == {(1,): (1, 100), **expected}


events = st.lists(
    st.tuples(st.booleans(), st.integers(1, 5) | st.integers(1, 40), st.integers(1, 50))
)


@given(events)
@settings(max_examples=200)
def test_both_agree_on_any_sequence_of_events(sequence: list[tuple[bool, int, int]]) -> None:
    native, plain = Native(), reference.CallEngine()
    ticks = 1
    try:
        for entering, function, elapsed in sequence:
            ticks += elapsed
            native.feed(entering, function, ticks)
            plain.feed(entering, function, ticks)
        assert native.read() == plain.read()
    finally:
        native.close()


def test_what_is_open_at_the_end_has_its_time_up_to_there() -> None:
    native = Native()
    try:
        began = _core.ticks()
        native.feed(True, 1, began)
        _core.calls_stop()
        ended = _core.ticks()
        [(calls, ticks)] = native.read().values()
        assert calls == 1
        assert 0 < ticks <= ended - began
    finally:
        native.close()


def test_without_room_the_counts_that_were_there_stay_right() -> None:
    _core.storage_open(None, 2**20, True)  # half of that for calls: some 10,000 nodes
    _core.calls_start()
    native = Native.__new__(Native)
    try:
        _core.calls_feed(True, 1, 1)
        for function in range(2, 30_000):
            _core.calls_feed(True, function, 5)
            _core.calls_feed(True, function, 6)
            _core.calls_feed(False, function, 7)
            _core.calls_feed(False, function, 8)
        _core.calls_feed(False, 1, 11)
        found = native.read()
        assert found[1,] == (1, 10)
        assert found[1, 2] == (1, 3)
        assert 5_000 < len(found) < 30_000
        assert {counted for path, counted in found.items() if len(path) == 3} == {(1, 1)}
    finally:
        native.close()
