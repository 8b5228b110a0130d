"""What takes time on both sides, matched: rows that sum to the whole change."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from stepscope.compare.recording import Recording
from stepscope.compare.side import Side
from stepscope.model import Location
from stepscope.model.comparison import Change, What

# By kind: what the rows do not account for.
_REST: Final[dict[What, str]] = {
    "phase": "(rounding)",
    "function": "(everything else)",
    "line": "(everything else)",
    "op": "(outside operators)",
    "kernel": "(outside kernels)",
}
_LEAST: Final = 0.01  # of the longer step: smaller changes of code and operators are joined
_MOST_ROWS: Final = 20  # of a kind, the largest changes
_NO_CHANGE: Final = 0.002  # of the longer step: shares of less would say nothing


class Piece(NamedTuple):
    """What takes time in a mean step of one side."""

    name: str
    ns: float
    location: Location | None = None
    error_ns: float = 0.0  # it may be that far off


class Totals(NamedTuple):
    """The mean step of both sides, in ns."""

    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def longer(self) -> float:
        return max(self.before, self.after)


Pieces = Mapping[Any, Piece]  # under a key that is the same on both sides


def averaged(
    before: Side, after: Side, totals: Totals, pieces_of: Callable[[Recording, float], Pieces]
) -> tuple[Pieces, Pieces]:
    """Of both sides. `pieces_of` gets a recording and the mean step that its pieces sum to."""
    return (
        _averaged(pieces_of(each, totals.before) for each in before.recordings),
        _averaged(pieces_of(each, totals.after) for each in after.recordings),
    )


def _averaged(recordings: Iterable[Pieces]) -> Pieces:
    """Over the recordings of a side. What one of them does not have takes no time in it; one that
    has nothing at all did not record this kind."""
    known = [pieces for pieces in recordings if pieces]
    return {key: _mean([pieces.get(key) for pieces in known]) for key in _keys(known)}


def _keys(known: list[Pieces]) -> dict[Any, None]:
    """In the order in which they come."""
    return {key: None for pieces in known for key in pieces}


def _mean(each: Sequence[Piece | None]) -> Piece:
    found = [piece for piece in each if piece is not None]
    return found[0]._replace(
        ns=math.fsum(piece.ns for piece in found) / len(each),
        error_ns=math.hypot(*(piece.error_ns for piece in found)) / len(each),
    )


def matched(
    what: What,
    before: Pieces,
    after: Pieces,
    totals: Totals,
    *,
    least: float = _LEAST,
) -> list[Change]:
    """The largest change first. Changes below `least` of the step, and what a side does not account
    for, are joined in the last row."""
    if not before and not after:
        return []
    rows = [
        _row(what, before.get(key), after.get(key), totals)
        for key in {**before, **after}
        if _is_worth_a_row(before.get(key), after.get(key), least * totals.longer)
    ]
    rows.sort(key=lambda row: (-abs(row.after_ns - row.before_ns), row.name))
    return _with_rest(rows[:_MOST_ROWS], what, totals)


def _with_rest(rows: list[Change], what: What, totals: Totals) -> list[Change]:
    """And one row more, so that they sum to both steps."""
    name = _REST[what]
    left = Piece(name, totals.before - sum(row.before_ns for row in rows))
    right = Piece(name, totals.after - sum(row.after_ns for row in rows))
    if max(abs(left.ns), abs(right.ns)) < 1e-9 * max(totals.longer, 1.0):
        return rows
    return [*rows, _row(what, left, right, totals)]


def _is_worth_a_row(before: Piece | None, after: Piece | None, least_ns: float) -> bool:
    """Not if it changed by less, or if chance alone may have changed it so much."""
    pieces = [piece for piece in (before, after) if piece is not None]
    change = abs((after.ns if after else 0.0) - (before.ns if before else 0.0))
    chance = math.hypot(*(piece.error_ns for piece in pieces))
    return change >= max(least_ns, chance)


def _row(what: What, before: Piece | None, after: Piece | None, totals: Totals) -> Change:
    latest = after or before
    assert latest is not None  # a key comes from one of the sides
    before_ns, after_ns = before.ns if before else 0.0, after.ns if after else 0.0
    is_change = abs(totals.change) >= _NO_CHANGE * totals.longer
    return Change(
        what=what,
        name=latest.name,
        before_ns=before_ns,
        after_ns=after_ns,
        location=latest.location or (before.location if before else None),
        share=(after_ns - before_ns) / totals.change if is_change else None,
    )
