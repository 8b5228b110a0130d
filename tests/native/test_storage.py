"""Mapped storage: what is in the file, what a full disk does, what a fork leaves alone."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from native.recorded import events
from stepscope.native import _core
from stepscope.store import format as fmt


def test_an_event_is_in_the_file_the_moment_it_is_added(folder: Path) -> None:
    _core.step_mark(start=5, samples=32)
    tag, _, start, _, _, _, value0, _ = events(folder)[-1]
    assert (tag, start, value0) == (fmt.EVENT_TAG | fmt.EventKind.STEP, 5, 32)


def test_a_span_is_open_until_its_end(folder: Path) -> None:
    offset = _core.span_begin(7, fmt.SpanCategory.REGION)
    assert events(folder)[-1][3] == 0
    _core.span_end(offset)
    _, name, start, end, *_ = events(folder)[-1]
    assert name == 7
    assert end >= start > 0


def test_an_end_without_a_begin_changes_nothing(folder: Path) -> None:
    _core.step_mark(start=5)
    before = events(folder)
    for offset in (0, 1, 63, 64 + 17, 2**40):
        _core.span_end(offset)
    assert events(folder) == before


def test_the_file_grows_without_moving(folder: Path) -> None:
    count = 3 * 2**20 // fmt.EVENT.size  # many chunks
    for number in range(count):
        _core.step_mark(start=number + 1)
    starts = [event[2] for event in events(folder)]
    assert starts == list(range(1, count + 1))


def test_a_stream_at_its_limit_stops_and_says_so(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), 2**20)
    try:
        while _core.lines_register(compile("1", "made.py", "exec"), 1, 1, 1000, (), False):
            pass
        used, state = _core.storage_states()[1]
        assert state == fmt.StreamState.FULL
        assert used <= 2**20
    finally:
        _core.storage_close()


def test_a_folder_that_is_missing_is_an_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _core.storage_open(str(tmp_path / "missing"), 2**20)
    assert not _core.storage_is_open()
    assert _core.step_mark() == 0


def test_a_closed_file_is_no_longer_than_what_it_holds(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), 2**24)
    _core.step_mark()
    _core.storage_close()
    assert (tmp_path / fmt.EVENTS_FILE).stat().st_size == fmt.HEADER.size + fmt.EVENT.size


def test_a_forked_child_does_not_write_into_its_parents_file(folder: Path) -> None:
    _core.step_mark(start=1)
    child = os.fork()
    if child == 0:
        _core.step_mark(start=99)
        os._exit(0)
    os.waitpid(child, 0)
    _core.step_mark(start=2)
    assert [event[2] for event in events(folder)] == [1, 2]


KILLED = """
import os, sys
from stepscope.native import _core
_core.storage_open(sys.argv[1], 2**24)
for number in range(1, 100_000):
    _core.step_mark(start=number)
    if number == 54_321:
        os.kill(os.getpid(), 9)
"""


def test_a_killed_process_leaves_every_event_it_added(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    starts = [event[2] for event in events(tmp_path)]
    assert starts == list(range(1, 54_322))


def test_the_first_span_in_a_range_begins_and_ends_with_it(folder: Path) -> None:
    begin, end = (
        _core.Edge(lambda _range: None, ("torch's",), pytest.fail, is_end=is_end)
        for is_end in (False, True)
    )
    range_ = types.SimpleNamespace(name="torch's own")
    before = _core.ticks()
    begin(range_)
    opened = _core.ticks()
    offsets = [
        _core.range_span(1, fmt.SpanCategory.OPTIMIZER, 5),
        _core.range_span(2, fmt.SpanCategory.INPUT, 0, 6),
    ]
    for offset in offsets:
        _core.span_end(offset)
    ended = _core.ticks()
    end(range_)
    end(range_)  # of one that was opened before us
    _core.range_span(3, fmt.SpanCategory.REGION)
    first, second, alone = events(folder)[-3:]
    assert before <= first[2] <= opened <= ended <= first[3]
    assert opened <= second[2] <= second[3] <= ended
    assert (first[6], second[7]) == (5, 6)
    assert alone[2] >= ended
    with pytest.raises(TypeError):
        _core.range_span(1)  # type: ignore[call-arg]  # that is the point
