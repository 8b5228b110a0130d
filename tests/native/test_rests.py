"""A job that outlasts the room for its events: recorded in looks, with rests between them."""

import os
from pathlib import Path

from native.recorded import events
from stepscope.native import _core
from stepscope.store import format as fmt

ROOM_BYTES = 2**22
MARKS = 100_000  # two and a half times what there is room for


def marked(folder: Path) -> tuple[list[tuple[int, ...]], int]:
    _core.storage_open(str(folder), ROOM_BYTES)
    try:
        for number in range(1, MARKS + 1):
            _core.step_mark(start=number)
        used, state = _core.storage_states()[0]
        assert state == fmt.StreamState.GROWING
        return events(folder), used
    finally:
        _core.storage_close()


def of_kind(found: list[tuple[int, ...]], kind: fmt.EventKind) -> list[tuple[int, ...]]:
    return [event for event in found if event[0] == fmt.EVENT_TAG | kind]


def test_the_room_is_not_used_up_and_the_job_is_seen_beyond_its_half(tmp_path: Path) -> None:
    found, used = marked(tmp_path)
    assert used <= ROOM_BYTES / 2
    seen = {event[2] for event in of_kind(found, fmt.EventKind.STEP)}
    half = ROOM_BYTES // 4 // fmt.EVENT.size - 10
    assert set(range(1, half)) <= seen  # up to half of the room, all of them
    assert max(seen) > half + 100


def test_a_rest_says_when_it_was_and_what_it_left_out(tmp_path: Path) -> None:
    found, _ = marked(tmp_path)
    rests, steps = of_kind(found, fmt.EventKind.REST), of_kind(found, fmt.EventKind.STEP)
    assert all(start < end for _, _, start, end, *_ in rests[:-1])
    left_out = sum(rest[6] for rest in rests[:-1])
    assert 0 < left_out <= MARKS - len(steps)


def test_what_comes_once_in_an_epoch_is_kept_in_a_rest(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), ROOM_BYTES)
    for number in range(MARKS):
        evaluates = number % 100 == 0
        _core.span_begin(1, fmt.SpanCategory.EVALUATION if evaluates else fmt.SpanCategory.FORWARD)
    found = events(tmp_path)
    _core.storage_close()
    rests = of_kind(found, fmt.EventKind.REST)
    inside = [
        span[5]
        for span in of_kind(found, fmt.EventKind.SPAN)
        if any(rest[2] < span[2] < rest[3] for rest in rests)
    ]
    assert fmt.SpanCategory.EVALUATION in inside
    # The event that ends a rest has begun in it.
    assert inside.count(fmt.SpanCategory.FORWARD) <= len(rests)


def test_whatever_comes_once_in_hundreds_of_events_is_kept_in_every_rest(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), ROOM_BYTES)
    for number in range(MARKS):
        _core.span_begin(1 + (number % 1000 == 0), fmt.SpanCategory.REGION)
    found = events(tmp_path)
    _core.storage_close()
    names = [span[1] for span in of_kind(found, fmt.EventKind.SPAN)]
    assert names.count(2) == MARKS / 1000
    assert names.count(1) < MARKS / 2


def test_a_forked_child_begins_without_rests(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), ROOM_BYTES)
    while _core.step_mark():
        pass
    child = os.fork()
    if not child:
        (tmp_path / "child").mkdir()
        _core.storage_open(str(tmp_path / "child"), ROOM_BYTES)
        os._exit(0 if all(_core.step_mark() for _ in range(1000)) else 1)
    assert os.waitpid(child, 0)[1] == 0
    _core.storage_close()
