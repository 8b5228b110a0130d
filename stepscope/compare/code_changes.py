"""The user's functions and lines that changed, from the stacks seen in measured steps.

What a library does counts for the user's line that called it, so lines sum to the whole step.
"""

import collections
from collections.abc import Callable, Hashable
from typing import Final

from stepscope.analyze.code.sampled_steps import Frame, Look, step_time
from stepscope.analyze.run import shown_path
from stepscope.compare.changes import EVERYTHING_ELSE, Piece, Pieces, Totals, matched
from stepscope.compare.matched_files import MatchedFiles, text_of
from stepscope.compare.side import Side
from stepscope.model import Location
from stepscope.model.comparison import Change, What

_NO_CODE: Final = "(none of the script's code)"
Keyed = Callable[[Side, Frame], Hashable]
Named = Callable[[Side, Frame], str]


def code_changes(before: Side, after: Side, totals: Totals) -> list[Change]:
    if before.found is None or after.found is None:
        return []
    files = MatchedFiles(before, after)

    def line(side: Side, frame: Frame) -> Hashable:
        where = files.of_before if side is before else files.of_after
        return where(frame.function.file, frame.line)

    def function(side: Side, frame: Frame) -> Hashable:
        where = files.of_before if side is before else files.of_after
        return where(frame.function.file, 1)[0], frame.function.name

    rows: list[Change] = []
    kinds: tuple[tuple[What, Keyed, Named], ...] = (
        ("function", function, _function_name), ("line", line, _line_text),
    )  # fmt: skip
    for what, key, name in kinds:
        old = _pieces(before, key, name, totals.before)
        new = _pieces(after, key, name, totals.after)
        if old and new:  # a side without samples would seem to have lost everything
            rows += matched(what, old, new, totals, EVERYTHING_ELSE)
    return rows


def _pieces(side: Side, key: Keyed, name: Named, mean_ns: float) -> Pieces:
    assert side.found is not None
    time = step_time(side.process, side.found)
    spent: collections.defaultdict[Hashable, float] = collections.defaultdict(float)
    longest: dict[Hashable, tuple[float, Frame]] = {}
    for look in time.looks:
        frame = _innermost(look)
        at = key(side, frame) if frame is not None else None
        spent[at] += look.ns
        if frame is not None and look.ns > longest.get(at, (0.0, frame))[0]:
            longest[at] = look.ns, frame
    return {
        at: _piece(side, longest[at][1] if at in longest else None, name,
                   mean_ns * ns / time.total_ns, mean_ns * time.error(ns / time.total_ns))
        for at, ns in spent.items()
    }  # fmt: skip


def _innermost(look: Look) -> Frame | None:
    return look.users[-1] if look.users else None


def _piece(side: Side, frame: Frame | None, name: Named, ns: float, error_ns: float) -> Piece:
    if frame is None:
        return Piece(_NO_CODE, ns, None, error_ns)
    function = frame.function
    file = shown_path(side.run, function.file)
    where = Location(file=file, line=frame.line, function=function.name)
    return Piece(name(side, frame), ns, where, error_ns)


def _function_name(side: Side, frame: Frame) -> str:
    return frame.function.name


def _line_text(side: Side, frame: Frame) -> str:
    text = text_of(side, frame.function.file)
    if text is not None and 0 < frame.line <= len(text):
        return text[frame.line - 1].strip()
    return f"{shown_path(side.run, frame.function.file)}:{frame.line}"
