"""What the viewer needs of a long run, kept in its tables: from then on it opens at once.

The page's content is kept as JSON, the spans of the timeline as Parquet: they are read when a tile
is asked for. Both are derived, and are left alone when a file of the run or our own code is newer.
"""

import dataclasses
import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from stepscope.analyze.answers.parquet_tables import tables_folders
from stepscope.analyze.timeline.run_timeline import RunTimeline
from stepscope.analyze.timeline.spans import Row, Spans
from stepscope.analyze.traces.foreign import is_trace, traces_in
from stepscope.model import Location, Record
from stepscope.model.timeline import Kind
from stepscope.show.report.page import encoded
from stepscope.show.report.shapes import Content
from stepscope.store import format as fmt

if TYPE_CHECKING:
    import polars

_VIEW: Final = "view.json"
_SPANS: Final = "timeline.parquet"
_FLOWS: Final = "timeline_flows.parquet"
_COLUMNS: Final = ("start_ns", "end_ns", "name", "level", "place")
_ENDS: Final = ("row", "at_ns", "other", "to_ns")
_WATCHED: Final = (fmt.EVENTS_FILE, fmt.LINES_FILE, fmt.SAMPLES_FILE, fmt.PROCESS_FILE)
_PACKAGE: Final = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """All that a page may ask of a run."""

    content: bytes  # JSON
    timeline: Callable[[], RunTimeline]


class _Row(Record, frozen=True):
    process: int
    thread: str
    title: str
    kind: Kind
    spans: int


class _Kept(Record, frozen=True):
    version: str
    processes: list[str]
    names: list[str]
    places: list[Location]
    rows: list[_Row]
    main_ns: int
    sizes: dict[str, int]  # of the files beside it: a copy that was cut off is none
    content: msgspec.Raw


# --- which state of a run -------------------------------------------------------------------------


def run_version(path: Path) -> str:
    """Of sizes and times, and of how much each stream holds: writing into a mapped file need not
    change its time. Reading a run does not change it."""
    parts: list[Any] = [path.resolve().name, _code_version()]
    for file in (path / fmt.RUN_FILE, path / fmt.SUPERVISOR_FILE, *_watched(path)):
        try:
            stat = file.stat()
            with file.open("rb") as opened:
                head = opened.read(fmt.HEADER.size)
        except OSError:
            continue
        parts.append((str(file.relative_to(path)), stat.st_mtime_ns, stat.st_size, head))
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:24]


def _watched(path: Path) -> list[Path]:
    if is_trace(path):
        return traces_in(path)
    return [file for name in _WATCHED for file in sorted(path.glob(f"proc-*/{name}"))]


@functools.cache
def _code_version() -> int:
    """Another stepscope may tell something else of the same run."""
    return max(file.stat().st_mtime_ns for file in _PACKAGE.rglob("*.py"))


def _folders(path: Path) -> tuple[Path, ...]:
    """Beside a trace of another tool nothing of ours is wanted."""
    return tables_folders(path)[1:] if is_trace(path) else tables_folders(path)


# --- keeping --------------------------------------------------------------------------------------


def keep(path: Path, version: str, told: Content, timeline: RunTimeline) -> None:
    """Where it is long: in the run, else in the user's cache, else not at all."""
    if not timeline.is_long:
        return
    for folder in _folders(path):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder, version, told, timeline)
        except (OSError, UnicodeEncodeError):
            continue
        return


def _write(folder: Path, version: str, told: Content, timeline: RunTimeline) -> None:
    """The view comes last: who finds it finds the others, too."""
    _replace(folder / _SPANS, lambda half: _spans_table(timeline).write_parquet(half))
    _replace(folder / _FLOWS, lambda half: _flows_table(timeline).write_parquet(half))
    view = _Kept(
        version=version,
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
        content=msgspec.Raw(encoded(told)),
    )  # fmt: skip
    body = msgspec.json.encode(view)
    _replace(folder / _VIEW, lambda half: half.write_bytes(body))


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


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Whole or not at all: somebody may be reading."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(half)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


# --- finding it again -----------------------------------------------------------------------------


def kept(path: Path, version: str) -> View | None:
    """What was kept of the run in this state."""
    for folder in _folders(path):
        try:
            found = msgspec.json.decode((folder / _VIEW).read_bytes(), type=_Kept)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if found.version == version and found.sizes == _sizes(folder):
            return View(
                bytes(found.content), functools.cache(functools.partial(_timeline, folder, found))
            )
    return None


def _timeline(folder: Path, found: _Kept) -> RunTimeline:
    import polars

    columns = {
        name: column.to_numpy()
        for name, column in polars.read_parquet(folder / _SPANS).to_dict().items()
    }
    flows = polars.read_parquet(folder / _FLOWS).to_numpy()
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
    )


def _spans(columns: dict[str, Any], where: slice) -> Spans:
    start, end, name, level, place = (columns[column][where] for column in _COLUMNS)
    return Spans(start, end, name, level, place, np.ones(len(start), np.int64))
