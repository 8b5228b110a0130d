"""Chrome's trace of a whole run, for Perfetto and chrome://tracing: all processes on one clock."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from stepscope.analyze.run import Run
from stepscope.analyze.timeline.one_clock import Member, on_one_clock
from stepscope.analyze.timeline.tracks import (
    Label,
    Track,
    line_tracks,
    memory_points,
    span_tracks,
    window_track,
)
from stepscope.errors import InputError
from stepscope.show.exporters import trace_events as to
from stepscope.show.exporters.chrome_windows import Numbers, window_events
from stepscope.show.selection import only

OPEN_WITH: Final = "https://ui.perfetto.dev, or chrome://tracing (the file is {path})"
SUFFIX: Final = "trace.json"
_FIRST_OWN_NUMBER: Final = 2**23  # larger than any pid or tid of the kernel
_LANES: Final = 1000  # gap between the sort indexes of two tracks
_OF_THE_PROCESS: Final = ("step", "window")  # rows of the whole process, not of a thread
_BY_TITLE: Final = ("region", "action", "stage", "import")  # their category is the row's title
_PIECE: Final = 10_000  # spans held as Python objects at a time


def export(run: Run, *, process: int | None = None) -> Iterator[bytes]:
    """All processes, or only the given one; in pieces, because a run may be long."""
    chosen = only(run, process=process)
    if not chosen.processes:
        raise InputError(f"'{run.path}' has no process to export. Record the run again.")
    clock = on_one_clock(chosen)
    head = {"schemaVersion": 1, "traceName": to.text(run.path.resolve().name)}
    return to.document(head, clock.base_ns, _events(clock.members))


def _events(members: list[Member]) -> Iterator[to.Event]:
    own_numbers = itertools.count(_FIRST_OWN_NUMBER)
    taken: set[int] = set()
    window_numbers = itertools.count()
    for order, member in enumerate(members):
        pid = member.pid if member.pid not in taken else next(own_numbers)
        taken.add(pid)
        name = f"{member.role}, {member.host}" if member.host else member.role
        yield from to.process_named(pid, name, order)
        for number, track in enumerate(_tracks(member)):
            yield from _spans(track, pid, own_numbers, number)
        for at_ns, resident in memory_points(member):
            yield to.counter("resident memory", pid, at_ns, {"bytes": resident})
        numbers = Numbers(pid, order, own_numbers, window_numbers)
        yield from window_events(member, numbers)


def _tracks(member: Member) -> Iterator[Track]:
    yield from span_tracks(member)
    yield from line_tracks(member)
    yield window_track(member)


def _spans(
    track: Track, pid: int, own_numbers: "itertools.count[int]", order: int
) -> Iterator[to.Event]:
    name = track.title if track.kind in _OF_THE_PROCESS else f"{track.thread}: {track.title}"
    category = track.title if track.kind in _BY_TITLE else track.kind
    named = [_label(label) if track.kind != "line" else _line(label) for label in track.labels]
    lanes, tids = to.Lanes(), list[int]()
    for start_ns, end_ns, label in _entries(track):
        lane = lanes.place(start_ns, end_ns)
        if lane == len(tids):
            tids.append(next(own_numbers))
            again = f" ({lane + 1})" if lane else ""
            yield from to.thread_named(pid, tids[lane], name + again, order * _LANES + lane)
        text, args = named[label]
        yield to.complete(text, category, pid, tids[lane], start_ns, end_ns - start_ns, args)


def _entries(track: Track) -> Iterator[tuple[int, int, int]]:
    """Start, end and label of each span, with only a few as Python objects at a time."""
    columns = track.start_ns, track.end_ns, track.label
    for first in range(0, len(track.label), _PIECE):
        piece = (column[first : first + _PIECE].tolist() for column in columns)
        yield from zip(*piece, strict=True)


def _label(label: Label) -> tuple[str, dict[str, Any]]:
    details = label.details.items()
    return label.name, {
        key: to.text(value) if isinstance(value, str) else value for key, value in details
    }


def _line(label: Label) -> tuple[str, dict[str, Any]]:
    """There is room for the whole path."""
    at = label.place
    if at is None:
        return label.name, {}
    return f"{at.file}:{at.line}", {"function": to.text(at.function or "")}
