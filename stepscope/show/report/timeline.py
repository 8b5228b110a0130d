"""Everything over time, all processes on one clock: whole for a file, in tiles for the viewer."""

import dataclasses
import functools
from typing import Final

import numpy as np

from stepscope.model import Location
from stepscope.show.report.operator_rows import OperatorRows
from stepscope.show.report.rows import Source, Words, recorded_rows
from stepscope.show.report.shapes import Lane, Timeline
from stepscope.show.report.spans import Ints, Row, Spans, between, few
from stepscope.store.reader import ProcessData, Run

MOST_SPANS: Final = 40_000  # in a file
MOST_IN_A_ROW: Final = 4_000
MOST_FLOWS: Final = 3_000
_MOST_PROCESSES: Final = 64
_PARTS: Final = 1 << 14  # of the time: so fine is what wide views are cut from
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
        first_ns = min((int(row.spans.start_ns[0]) for row in self.rows), default=0)
        return self._timeline(shown, first_ns, self._last_ns, with_words=True)

    def tile(self, from_ns: int, to_ns: int, width: int) -> Timeline:
        """What is between these moments, to a pixel; in the names and places of the whole."""
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
        """What is far narrower than a pixel of a wide view, put together already: of two million
        spans that would take 0.3 s of every such view, on a core that the browser wants, too."""
        return [between(row.spans, -_FAR_NS, _FAR_NS, self._coarse_ns) for row in self.rows]

    @functools.cached_property
    def _last_ns(self) -> int:
        return max((int(row.spans.end_ns.max()) for row in self.rows), default=0)

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
        )

    def _flows(self, from_ns: int, to_ns: int) -> list[tuple[int, int, int, int]]:
        """Those of which an end is seen."""
        ends = self.flows[:, [1, 3]]
        seen = np.flatnonzero(((ends >= from_ns) & (ends <= to_ns)).any(axis=1))[:MOST_FLOWS]
        return [(row, at, other, to) for row, at, other, to in self.flows[seen].tolist()]


def run_timeline(run: Run) -> RunTimeline:
    """Reads all of it: of two million operators that takes a while."""
    words = Words()
    rows: list[Row] = []
    flows = [np.zeros((0, 4), np.int64)]
    ordered = in_order(run)[:_MOST_PROCESSES]
    clocks = _clocks(ordered)
    base_ns = min((each.start_ns + clocks[each.info.host] for each in ordered), default=0)
    for number, process in enumerate(ordered):
        zero_ns = base_ns - clocks[process.info.host]
        source = Source(run, process, number, zero_ns, words)
        rows += [row for row in recorded_rows(source) if len(row.spans)]
        operators = OperatorRows(source, len(rows))
        rows += operators.rows()
        flows += operators.flows
    return RunTimeline(
        processes=[_process_name(each) for each in ordered],
        names=words.names,
        places=words.places,
        rows=rows,
        flows=np.concatenate(flows),
        main_ns=ordered[0].start_ns + clocks[ordered[0].info.host] - base_ns if ordered else 0,
    )


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


def in_order(run: Run) -> list[ProcessData]:
    """Each rank, then its workers."""
    rank_of = {each.info.pid: each.info.rank for each in run.processes if each.info.rank}

    def order(each: ProcessData) -> tuple[bool, int, bool, int]:
        rank = each.info.rank or rank_of.get(each.info.parent_pid or 0) or 0
        return each is not run.main, rank, each.info.role == "worker", each.start_ns

    return sorted(run.processes, key=order)


def _clocks(processes: list[ProcessData]) -> dict[str, int]:
    """For each host what makes its monotonic time Unix time: one number for all who share it."""
    clocks: dict[str, int] = {}
    for each in processes:
        clocks.setdefault(each.info.host, each.clock.wall_ns(0))
    return clocks


def _process_name(process: ProcessData) -> str:
    if process.folder.is_file():
        return process.folder.name
    info = process.info
    role = f"rank {info.rank}" if info.role == "rank" else info.role
    if info.role == "worker" and info.rank is not None:
        role = f"worker of rank {info.rank}"
    return f"{role} · {info.pid}"
