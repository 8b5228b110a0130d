"""The user's functions and lines that changed, from the stacks seen in measured steps.

What a library does counts for the user's line that called it, so lines sum to the whole step.
"""

import collections
import functools
from collections.abc import Callable, Hashable
from typing import Final

from stepscope.analyze.code.sampled_steps import Frame, Look, step_time
from stepscope.analyze.run import shown_path
from stepscope.compare.changes import Piece, Pieces, Totals, averaged, matched
from stepscope.compare.matched_files import Line, MatchedFiles, text_of
from stepscope.compare.recording import Recording
from stepscope.compare.side import Side
from stepscope.model import Location
from stepscope.model.comparison import Change, What

_NO_CODE: Final = "(none of the script's code)"
Keyed = Callable[[Recording, Frame], Hashable]
Named = Callable[[Recording, Frame], str]


def code_changes(before: Side, after: Side, totals: Totals) -> list[Change]:
    if before.is_trace or after.is_trace:
        return []
    place = _places(before, after)

    def line(recording: Recording, frame: Frame) -> Hashable:
        return place(recording, frame.function.file, frame.line)

    def function(recording: Recording, frame: Frame) -> Hashable:
        return place(recording, frame.function.file, 1)[0], frame.function.name

    rows: list[Change] = []
    kinds: tuple[tuple[What, Keyed, Named], ...] = (
        ("function", function, _function_name), ("line", line, _line_text),
    )  # fmt: skip
    for what, key, name in kinds:
        old, new = averaged(before, after, totals, functools.partial(_pieces, key, name))
        if old and new:  # a side without samples would seem to have lost everything
            rows += matched(what, old, new, totals)
    return rows


def _places(before: Side, after: Side) -> Callable[[Recording, str, int], Line]:
    """Every line under the name that it has in the latest text."""
    latest = after.first
    files = {id(each): MatchedFiles(each, latest) for each in before.recordings + after.recordings}

    def place(recording: Recording, path: str, line: int) -> Line:
        matched_files = files[id(recording)]
        if recording is latest:
            return matched_files.of_after(path, line)
        return matched_files.of_before(path, line)

    return place


def _pieces(key: Keyed, name: Named, recording: Recording, mean_ns: float) -> Pieces:
    assert recording.found is not None  # not a trace
    time = step_time(recording.process, recording.found)
    spent: collections.defaultdict[Hashable, float] = collections.defaultdict(float)
    longest: dict[Hashable, tuple[float, Frame]] = {}
    for look in time.looks:
        frame = _innermost(look)
        at = key(recording, frame) if frame is not None else None
        spent[at] += look.ns
        if frame is not None and look.ns > longest.get(at, (0.0, frame))[0]:
            longest[at] = look.ns, frame
    return {
        at: _piece(recording, longest[at][1] if at in longest else None, name,
                   mean_ns * ns / time.total_ns, mean_ns * time.error(ns / time.total_ns))
        for at, ns in spent.items()
    }  # fmt: skip


def _innermost(look: Look) -> Frame | None:
    return look.users[-1] if look.users else None


def _piece(
    recording: Recording, frame: Frame | None, name: Named, ns: float, error_ns: float
) -> Piece:
    if frame is None:
        return Piece(_NO_CODE, ns, None, error_ns)
    function = frame.function
    file = shown_path(recording.run, function.file)
    where = Location(file=file, line=frame.line, function=function.name)
    return Piece(name(recording, frame), ns, where, error_ns)


def _function_name(recording: Recording, frame: Frame) -> str:
    return frame.function.name


def _line_text(recording: Recording, frame: Frame) -> str:
    text = text_of(recording, frame.function.file)
    if text is not None and 0 < frame.line <= len(text):
        return text[frame.line - 1].strip()
    return f"{shown_path(recording.run, frame.function.file)}:{frame.line}"
