"""Everything over time, all processes on one clock: whole for a file, in tiles for the viewer."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.timeline.counter_tracks import counter_tracks
from stepscope.analyze.timeline.one_clock import Member, on_one_clock
from stepscope.analyze.timeline.operator_rows import OperatorRows
from stepscope.analyze.timeline.rows import Source, Words
from stepscope.analyze.timeline.spans import Row, Spans, between, few
from stepscope.analyze.timeline.stack_tracks import stack_tracks
from stepscope.analyze.timeline.trace_tracks import trace_tracks
from stepscope.analyze.timeline.tracks import (
    Track,
    file_tracks,
    line_tracks,
    span_tracks,
    window_track,
)
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.timeline import Counter, Lane, Timeline
from stepscope.store.reader import Run

MOST_SPANS: Final = 40_000  # in a file
MOST_IN_A_ROW: Final = 4_000
MOST_FLOWS: Final = 3_000
_MOST_PROCESSES: Final = 64
_PARTS: Final = 1 << 14  # of the time: the resolution that wide views are cut from
_FAR_NS: Final = 2**60


@dataclasses.dataclass(frozen=True, eq=False)
class RunTimeline:
    """All spans of a run, from which views are cut."""

    processes: list[str]
    names: list[str]
    places: list[Location]
    rows: list[Row]
    flows: Ints  # n x 4: row and start, twice
    main_ns: int
    ended_ns: int | None = None  # when the last process ended; None: a trace does not say
    counters: list[Counter] = dataclasses.field(default_factory=list)

    @property
    def is_long(self) -> bool:
        """Whether a file cannot hold all of it."""
        return self.spans > MOST_SPANS or any(len(r.spans) > MOST_IN_A_ROW for r in self.rows)

    @property
    def spans(self) -> int:
        return sum(len(row.spans) for row in self.rows)

    def whole(self) -> Timeline:
        """With as much detail in every row as a file can hold."""
        most = MOST_IN_A_ROW
        if len(self.rows):
            most = min(most, max(200, MOST_SPANS // len(self.rows)))
        shown = [few(row.spans, most) for row in self.rows]
        first_ns = 0 if self.ended_ns is not None else self._first_ns
        return self._timeline(shown, first_ns, self._last_ns, with_words=True)

    def tile(self, from_ns: int, to_ns: int, width: int) -> Timeline:
        """What is between these moments, to a pixel; with the names and places of the whole."""
        least_ns = (to_ns - from_ns) / max(1, width)
        is_wide = self.is_long and least_ns >= 2 * self._coarse_ns
        rows = self._coarse if is_wide else [row.spans for row in self.rows]
        shown = [between(spans, from_ns, to_ns, least_ns) for spans in rows]
        return self._timeline(shown, from_ns, to_ns, with_words=False)

    @property
    def _coarse_ns(self) -> float:
        return self._last_ns / _PARTS

    @functools.cached_property
    def _coarse(self) -> list[Spans]:
        """What is far narrower than a pixel of a wide view, merged in advance: with two million
        spans that would take 0.3 s for every such view, on a core that the browser needs, too."""
        return [between(row.spans, -_FAR_NS, _FAR_NS, self._coarse_ns) for row in self.rows]

    @property
    def _first_ns(self) -> int:
        return min((int(row.spans.start_ns[0]) for row in self.rows), default=0)

    @functools.cached_property
    def _last_ns(self) -> int:
        ends = [int(row.spans.end_ns.max()) for row in self.rows]
        return max([*ends, self.ended_ns or 0])

    def _timeline(
        self, shown: list[Spans], from_ns: int, to_ns: int, *, with_words: bool
    ) -> Timeline:
        return Timeline(
            processes=self.processes,
            names=self.names if with_words else [],
            places=self.places if with_words else [],
            lanes=[_lane(row, spans) for row, spans in zip(self.rows, shown, strict=True)],
            flows=self._flows(from_ns, to_ns),
            from_ns=from_ns,
            to_ns=to_ns,
            whole_ns=self._last_ns,
            main_ns=self.main_ns,
            counters=self.counters if with_words else [],
        )

    def _flows(self, from_ns: int, to_ns: int) -> list[tuple[int, int, int, int]]:
        """Those with an end in view."""
        ends = self.flows[:, [1, 3]]
        seen = np.flatnonzero(((ends >= from_ns) & (ends <= to_ns)).any(axis=1))[:MOST_FLOWS]
        return [(row, at, other, to) for row, at, other, to in self.flows[seen].tolist()]


def run_timeline(run: Run) -> RunTimeline:
    """Reads all of it: with two million operators that takes a while."""
    words = Words()
    rows: list[Row] = []
    flows = [np.zeros((0, 4), np.int64)]
    members = on_one_clock(run, most=_MOST_PROCESSES).members
    for number, member in enumerate(members):
        source = Source(member, number, words)
        rows += [row for row in map(source.row_of, _tracks(member)) if len(row.spans)]
        operators = OperatorRows(source, len(rows))
        rows += operators.rows()
        flows += operators.flows
    return RunTimeline(
        processes=[_process_name(each) for each in members],
        names=words.names,
        places=words.places,
        rows=rows,
        flows=np.concatenate(flows),
        main_ns=members[0].process.start_ns - members[0].zero_ns if members else 0,
        ended_ns=_ended_ns(members),
        counters=counter_tracks(members, rows),
    )


def _ended_ns(members: list[Member]) -> int | None:
    recorded = [each for each in members if each.process.trace is None]
    return max((each.ended_ns for each in recorded), default=None)


def _tracks(member: Member) -> Iterator[Track]:
    yield from span_tracks(member)
    yield from file_tracks(member)
    yield from line_tracks(member)
    yield from stack_tracks(member)
    yield from trace_tracks(member)
    yield window_track(member)


def _lane(row: Row, shown: Spans) -> Lane:
    is_merged = bool((shown.count > 1).any())
    has_places = bool((shown.place >= 0).any())
    return Lane(
        process=row.process,
        thread=row.thread,
        title=row.title,
        kind=row.kind,
        depth=int(row.spans.level.max(initial=0)) + 1,
        spans=len(row.spans),
        start=np.diff(shown.start_ns, prepend=0).tolist(),
        lasted=(shown.end_ns - shown.start_ns).tolist(),
        name=shown.name.tolist(),
        level=shown.level.tolist(),
        count=shown.count.tolist() if is_merged else None,
        place=shown.place.tolist() if has_places else None,
    )


def _process_name(member: Member) -> str:
    trace, rank = member.process.trace, member.process.info.rank
    if trace is None:
        return f"{member.role} · {member.pid}"
    return trace.name if rank is None else f"rank {rank}"
