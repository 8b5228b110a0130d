"""A timeline on disk: its spans as Parquet, read when a part of it is asked for."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from stepscope.analyze.derived import read_table, replace_file
from stepscope.analyze.timeline.run_timeline import RunTimeline
from stepscope.analyze.timeline.spans import Row, Spans
from stepscope.model import Location, Record
from stepscope.model.timeline import Counter, Kind

if TYPE_CHECKING:
    import polars

_SPANS: Final = "timeline.parquet"
_FLOWS: Final = "timeline_flows.parquet"
_COLUMNS: Final = ("start_ns", "end_ns", "name", "level", "place")
_ENDS: Final = ("row", "at_ns", "other", "to_ns")


class _Row(Record, frozen=True):
    process: int
    thread: str
    title: str
    kind: Kind
    spans: int


class KeptTimeline(Record, frozen=True):
    """All but the spans, which are in the files beside it."""

    processes: list[str]
    names: list[str]
    places: list[Location]
    rows: list[_Row]
    main_ns: int
    sizes: dict[str, int]  # of the files: a truncated copy does not count
    ended_ns: int | None = None
    counters: list[Counter] = msgspec.field(default_factory=list)

    def is_whole(self, folder: Path) -> bool:
        return self.sizes == _sizes(folder)


def keep_timeline(folder: Path, timeline: RunTimeline) -> KeptTimeline:
    replace_file(folder / _SPANS, _spans_table(timeline).write_parquet)
    replace_file(folder / _FLOWS, _flows_table(timeline).write_parquet)
    return KeptTimeline(
        processes=timeline.processes,
        names=timeline.names,
        places=timeline.places,
        rows=[
            _Row(
                process=row.process, thread=row.thread, title=row.title, kind=row.kind,
                spans=len(row.spans),
            )
            for row in timeline.rows
        ],
        main_ns=timeline.main_ns,
        sizes=_sizes(folder),
        ended_ns=timeline.ended_ns,
        counters=timeline.counters,
    )  # fmt: skip


def _sizes(folder: Path) -> dict[str, int]:
    files = [folder / name for name in (_SPANS, _FLOWS)]
    return {file.name: file.stat().st_size for file in files if file.is_file()}


def _spans_table(timeline: RunTimeline) -> "polars.DataFrame":
    import polars

    return polars.DataFrame(
        {
            name: np.concatenate([getattr(row.spans, name) for row in timeline.rows])
            for name in _COLUMNS
        }
    )


def _flows_table(timeline: RunTimeline) -> "polars.DataFrame":
    import polars

    return polars.DataFrame({name: timeline.flows[:, at] for at, name in enumerate(_ENDS)})


def read_timeline(folder: Path, found: KeptTimeline) -> RunTimeline:
    import polars

    columns = {
        name: column.to_numpy()
        for name, column in polars.read_parquet(read_table(folder, _SPANS)).to_dict().items()
    }
    flows = polars.read_parquet(read_table(folder, _FLOWS)).to_numpy()
    ends = np.cumsum([0, *(row.spans for row in found.rows)]).tolist()
    rows = [
        Row(row.process, row.thread, row.title, row.kind, _spans(columns, slice(first, last)))
        for row, first, last in zip(found.rows, ends[:-1], ends[1:], strict=True)
    ]
    return RunTimeline(
        processes=found.processes,
        names=found.names,
        places=found.places,
        rows=rows,
        flows=flows,
        main_ns=found.main_ns,
        ended_ns=found.ended_ns,
        counters=found.counters,
    )


def _spans(columns: dict[str, Any], where: slice) -> Spans:
    start, end, name, level, place = (columns[column][where] for column in _COLUMNS)
    return Spans(start, end, name, level, place, np.ones(len(start), np.int64))
