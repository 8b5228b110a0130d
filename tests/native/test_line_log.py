"""When each line began, while an operator window is open: in C and in the plain reference."""

import functools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import given, settings

from native.line_events import LINES, Event, new_code, sequences
from stepscope.native import _core, reference
from stepscope.native.reference import EXIT, LINE
from stepscope.record.engines import lines
from stepscope.store import format as fmt
from stepscope.store.streams import read_events

Row = tuple[int, int, int]  # ticks, code id (0: none), line


def logged(folder: Path) -> list[Row]:
    events, _ = read_events(folder / fmt.EVENTS_FILE, [])
    begins = events[(events["tag"] & 0xFF) == fmt.EventKind.LINE_BEGINS]
    columns = zip(begins["start"], begins["name"], begins["extra"], strict=True)
    return [(int(ticks), int(name), int(line)) for ticks, name, line in columns]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    _core.storage_open(str(tmp_path), 2**24)
    _core.lines_start()
    yield tmp_path
    _core.lines_log(0)
    _core.lines_stop()
    _core.storage_close()


def test_a_line_is_logged_when_it_begins_and_when_its_callee_returns(folder: Path) -> None:
    caller, callee = new_code("caller"), new_code("callee")
    _core.lines_register(caller, 11, 1, LINES, (), False)
    _core.lines_register(callee, 12, 1, LINES, (), False)
    _core.feed(LINE, 100, caller, 5, 10)  # before the log is on
    _core.lines_log(1000)
    _core.feed(LINE, 200, callee, 1, 20)
    _core.feed(EXIT, 200, callee, 0, 30)
    _core.feed(LINE, 100, caller, 6, 40)
    _core.feed(EXIT, 100, caller, 0, 50)
    found = logged(folder)
    assert found[0][1:] == (11, 5)  # where the thread was when it was switched on
    assert found[1:] == [(20, 12, 1), (30, 11, 5), (40, 11, 6), (50, 0, 0)]


def test_nothing_is_logged_without_being_asked_for(folder: Path) -> None:
    code = new_code()
    _core.lines_register(code, 1, 1, LINES, (), False)
    _core.feed(LINE, 100, code, 1, 10)
    assert logged(folder) == []
    _core.lines_log(10)
    _core.lines_log(0)
    _core.feed(LINE, 100, code, 2, 20)
    assert len(logged(folder)) == 1


def test_the_log_has_a_limit_and_says_how_full_it_is(folder: Path) -> None:
    code = new_code()
    _core.lines_register(code, 1, 1, LINES, (), False)
    assert _core.lines_log(5) == 0
    for ticks in range(1, 20):
        _core.feed(LINE, 100, code, 1 + ticks % LINES, ticks)
    assert len(logged(folder)) == 5
    assert _core.lines_log(0) == 5


def test_whoever_waits_is_called_at_the_first_line_after_the_time(folder: Path) -> None:
    code = new_code()
    called: list[str] = []
    _core.lines_register(code, 1, 1, LINES, (), False)
    _core.lines_log(1000, 50, functools.partial(called.append, "end"))
    _core.feed(LINE, 100, code, 1, 49)
    assert called == []
    _core.feed(LINE, 100, code, 2, 50)
    assert called == ["end"]


def test_what_the_waiting_one_raises_does_not_reach_the_script(folder: Path) -> None:
    code = new_code()
    _core.lines_register(code, 1, 1, LINES, (), False)

    def fail() -> None:
        raise ValueError("ours")

    _core.lines_log(1000, 1, fail)
    _core.feed(LINE, 100, code, 1, 49)
    _core.feed(LINE, 100, code, 2, 50)
    assert len(logged(folder)) == 3


@given(sequences(shortest_ticks=1, most=60))
@settings(max_examples=150)
def test_both_engines_log_the_same(sequence: list[Event]) -> None:
    codes = [new_code(name) for name in "abc"]
    plain = reference.LineEngine()
    plain.log = []
    with tempfile.TemporaryDirectory() as folder:
        _core.storage_open(folder, 2**24)
        _core.lines_start()
        try:
            for number, code in enumerate(codes, 1):
                _core.lines_register(code, number, 1, LINES, (), False)
                plain.register(code)
            _core.lines_log(10_000)
            now = 0
            for kind, frame, which, line, elapsed in sequence:
                now += elapsed
                _core.feed(kind, frame * 64, codes[which], line, now)
                plain.feed(kind, frame * 64, codes[which], line, now)
            numbers = [codes.index(code) + 1 if code else 0 for _, code, _ in plain.log]
            expected = [
                (row[0], number, row[2]) for row, number in zip(plain.log, numbers, strict=True)
            ]
            assert logged(Path(folder))[1:] == expected
        finally:
            _core.lines_log(0)
            _core.lines_stop()
            _core.storage_close()


# --- on code that runs ----------------------------------------------------------------------------

SOURCE = """
def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total

def outer():
    a = inner(2)
    b = (inner(1) +
         inner(1))
    return a + b
"""


def run_logged(folder: Path, call: Callable[[], object], *, thin: CodeType | None = None) -> None:
    lines.engine_enable()
    try:
        if thin is not None:
            _core.lines_thin(thin)
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()
        _core.lines_log(1000)
        call()
        _core.lines_log(0)
    finally:
        lines.engine_disable()


@pytest.mark.parametrize("thinned", [False, True])
def test_running_code_is_logged_line_by_line(tmp_path: Path, thinned: bool) -> None:
    """Also where the counters are off: the window needs every line."""
    names: dict[str, Callable[..., object]] = {}
    exec(compile(SOURCE, "<logged>", "exec"), names)
    _core.storage_open(str(tmp_path), 2**24)
    try:
        lines.register_function(names["inner"], exact=False)  # type: ignore[arg-type]
        outer = lines.register_function(names["outer"], exact=False)  # type: ignore[arg-type]
        run_logged(tmp_path, names["outer"], thin=outer if thinned else None)
        found = [line for _, _, line in logged(tmp_path)]
        assert found == [
            0, 9, 3, 4, 5, 4, 5, 4, 6, 9,
            10, 3, 4, 5, 4, 6, 10, 11, 3, 4, 5, 4, 6, 11, 10, 12, 0,
        ]  # fmt: skip
    finally:
        for name in ("inner", "outer"):
            lines.forget_function(names[name])  # type: ignore[arg-type]
        _core.storage_close()


def test_a_frame_whose_end_was_not_seen_is_not_looked_at(folder: Path) -> None:
    code = new_code()
    _core.lines_register(code, 1, 1, LINES, (), False)
    _core.feed(LINE, 100, code, 1, 10)  # there is no frame at this address
    _core.lines_thin(code)  # so that only the frame knows the line
    _core.lines_log(10)
    assert [row[1:] for row in logged(folder)] == [(1, 0)]
