"""Everything over time, all processes on one clock: whole for a file, in tiles for the viewer."""

from typing import Final

import numpy as np

from stepscope.show.report.operator_rows import Flow, OperatorRows
from stepscope.show.report.rows import Source, Words, recorded_rows
from stepscope.show.report.shapes import Lane, Timeline
from stepscope.show.report.spans import Row, Spans, between, few
from stepscope.store.reader import ProcessData, Run

MOST_SPANS: Final = 40_000  # in a file
MOST_IN_A_ROW: Final = 4_000
MOST_FLOWS: Final = 3_000
_MOST_PROCESSES: Final = 64


class RunTimeline:
    """All spans of a run, from which views are cut."""

    def __init__(self, run: Run) -> None:
        self._words = Words()
        self._rows: list[Row] = []
        self._flows: list[Flow] = []
        ordered = in_order(run)[:_MOST_PROCESSES]
        clocks = _clocks(ordered)
        base_ns = min((each.start_ns + clocks[each.info.host] for each in ordered), default=0)
        self._main_ns = (
            ordered[0].start_ns + clocks[ordered[0].info.host] - base_ns if ordered else 0
        )
        self._processes = [_process_name(each) for each in ordered]
        for number, process in enumerate(ordered):
            zero_ns = base_ns - clocks[process.info.host]
            source = Source(run, process, number, zero_ns, self._words)
            self._rows += [row for row in recorded_rows(source) if len(row.spans)]
            operators = OperatorRows(source, len(self._rows))
            self._rows += operators.rows()
            self._flows += operators.flows
        self._first_ns = min((int(row.spans.start_ns.min()) for row in self._rows), default=0)
        self._last_ns = max((int(row.spans.end_ns.max()) for row in self._rows), default=0)

    @property
    def is_long(self) -> bool:
        """Whether a file cannot hold all of it."""
        return self.spans > MOST_SPANS or any(len(r.spans) > MOST_IN_A_ROW for r in self._rows)

    @property
    def spans(self) -> int:
        return sum(len(row.spans) for row in self._rows)

    def whole(self) -> Timeline:
        """With as much detail in every row as a file can hold."""
        most = MOST_IN_A_ROW
        if len(self._rows):
            most = min(most, max(200, MOST_SPANS // len(self._rows)))
        shown = [few(row.spans, most) for row in self._rows]
        return self._timeline(shown, self._first_ns, self._last_ns, with_words=True)

    def tile(self, from_ns: int, to_ns: int, width: int) -> Timeline:
        """What is between these moments, to half a pixel; in the names and places of the whole."""
        least_ns = max(0.0, (to_ns - from_ns) / max(1, 2 * width))
        shown = [between(row.spans, from_ns, to_ns, least_ns) for row in self._rows]
        return self._timeline(shown, from_ns, to_ns, with_words=False)

    def _timeline(
        self, shown: list[Spans], from_ns: int, to_ns: int, *, with_words: bool
    ) -> Timeline:
        flows = [
            flow
            for flow in self._flows
            if from_ns <= flow[1] <= to_ns or from_ns <= flow[3] <= to_ns
        ]
        return Timeline(
            processes=self._processes,
            names=self._words.names if with_words else [],
            places=self._words.places if with_words else [],
            lanes=[_lane(row, spans) for row, spans in zip(self._rows, shown, strict=True)],
            flows=flows[:MOST_FLOWS],
            from_ns=from_ns,
            to_ns=to_ns,
            whole_ns=self._last_ns,
            main_ns=self._main_ns,
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
    info = process.info
    role = f"rank {info.rank}" if info.role == "rank" else info.role
    if info.role == "worker" and info.rank is not None:
        role = f"worker of rank {info.rank}"
    return f"{role} · {info.pid}"
