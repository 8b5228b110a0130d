"""Spans of one row of the timeline as columns, and how many are merged into few."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.model.timeline import Kind

_FINEST: Final = 1 << 14  # parts of the time shown, to begin with
_DEEPEST: Final = 65_535
NO_PLACE: Final = -1


@dataclasses.dataclass(frozen=True, eq=False)
class Spans:
    """By start; `level`: how many others lie around; `count`: how many an entry stands for."""

    start_ns: Ints
    end_ns: Ints
    name: Ints
    level: Ints
    place: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.start_ns)

    def at(self, chosen: npt.NDArray[np.generic]) -> "Spans":
        return Spans(*(getattr(self, each.name)[chosen] for each in dataclasses.fields(self)))

    def where(self, kept: npt.NDArray[np.bool_]) -> "Spans":
        """Of millions, a copy takes a hundred megabytes: none is made where all are kept."""
        return self if kept.all() else self.at(np.flatnonzero(kept))


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """A row with all its spans."""

    process: int
    thread: str
    title: str
    kind: Kind
    spans: Spans


def nested(
    start_ns: Ints, end_ns: Ints, name: Ints, place: Ints | None = None, level: Ints | None = None
) -> Spans:
    """In order; without a level, spans that are still open when a span begins lie around it."""
    order = np.lexsort((-end_ns, start_ns))
    start, end = start_ns[order].astype(np.int64), end_ns[order].astype(np.int64)
    if level is None:
        ended = np.searchsorted(np.sort(end), start, side="right")
        found = np.maximum(np.arange(len(start)) - ended, 0)
    else:
        found = level[order]
    where = np.full(len(start), NO_PLACE) if place is None else place[order]
    return Spans(
        start, end, name[order].astype(np.int64), found.astype(np.int64), where.astype(np.int64),
        np.ones(len(start), np.int64),
    )  # fmt: skip


def between(spans: Spans, from_ns: int, to_ns: int, least_ns: float) -> Spans:
    """What is visible between two moments: spans shorter than `least_ns` that begin in the same
    stretch of that length become one, under the name of the longest."""
    begun = int(np.searchsorted(spans.start_ns, to_ns, side="right"))
    seen = spans.end_ns >= from_ns
    seen[begun:] = False
    spans = spans.where(seen)
    short = spans.end_ns - spans.start_ns < least_ns
    if least_ns <= 0 or not short.any():
        return spans
    together = _together(spans.where(short), least_ns)
    kept = spans.where(~short)
    both = [
        np.concatenate([getattr(kept, each.name), getattr(together, each.name)])
        for each in dataclasses.fields(Spans)
    ]
    order = np.lexsort((both[3], both[0]))
    return Spans(*(column[order] for column in both))


def _together(spans: Spans, least_ns: float) -> Spans:
    """They come by start: grouped by level, those of one stretch are neighbours. Only small numbers
    are sorted: with two million spans that takes a tenth of the time."""
    level = np.minimum(spans.level, _DEEPEST).astype(np.uint16)
    if (np.diff(level) < 0).any():
        spans = spans.at(np.argsort(level, kind="stable"))
    stretch = (spans.start_ns / least_ns).astype(np.int64)
    is_new = (np.diff(stretch, prepend=-1) != 0) | (np.diff(spans.level, prepend=-1) != 0)
    first = np.flatnonzero(is_new)
    longest = spans.at(_longest(spans, first, np.cumsum(is_new) - 1))
    return dataclasses.replace(
        longest,
        start_ns=spans.start_ns[first],
        end_ns=np.maximum.reduceat(spans.end_ns, first),
        count=np.add.reduceat(spans.count, first),
    )


def _longest(spans: Spans, first: npt.NDArray[np.intp], group: Ints) -> npt.NDArray[np.intp]:
    """The longest of each group, the earliest of several."""
    lasted = spans.end_ns - spans.start_ns
    found = np.flatnonzero(lasted == np.maximum.reduceat(lasted, first)[group])
    earliest: npt.NDArray[np.intp] = found[np.diff(group[found], prepend=-1) != 0]
    return earliest


def few(spans: Spans, most: int) -> Spans:
    """All of them, or merged until there are at most `most` (and at least one per level)."""
    if len(spans) <= most:
        return spans
    first, last = int(spans.start_ns.min()), int(spans.end_ns.max())
    least_ns = max(1.0, (last - first) / _FINEST)
    found = between(spans, first, last, least_ns)
    if len(found) <= most:
        return _finer(spans, found, least_ns, most)
    while len(found) > most and least_ns < last - first:
        least_ns *= 2
        found = between(found, first, last, least_ns)
    return found


def _finer(spans: Spans, found: Spans, least_ns: float, most: int) -> Spans:
    """Spans may crowd in a small part of the time: as fine a resolution as there is room for."""
    first, last = int(spans.start_ns.min()), int(spans.end_ns.max())
    while 2 * len(found) < most and least_ns > 2:
        least_ns /= 2
        finer = between(spans, first, last, least_ns)
        if len(finer) > most:
            break
        found = finer
    return found
