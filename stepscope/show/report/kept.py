"""What the viewer needs of a long run, kept beside its tables: the next time it opens at once.

The page's content is kept as JSON, the spans of the timeline beside it. Both are derived, and
are ignored when a file of the run or our own code is newer.
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from stepscope.analyze.derived import (
    has_room_for_tables,
    make_tables_folder,
    read_table,
    replace_file,
    tables_folders,
)
from stepscope.analyze.timeline.kept_timeline import (
    KeptTimeline,
    keep_timeline,
    read_timeline,
)
from stepscope.analyze.timeline.run_timeline import RunTimeline
from stepscope.analyze.traces.foreign import is_trace
from stepscope.model import Record
from stepscope.show.report.page import encoded
from stepscope.show.report.shapes import Content

_VIEW: Final = "view.json"


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """Everything that a page may ask for."""

    content: bytes  # JSON
    timeline: Callable[[], RunTimeline]


class _Kept(Record, frozen=True):
    version: str
    timeline: KeptTimeline
    content: msgspec.Raw


def keep(path: Path, version: str, shown: Content, timeline: RunTimeline) -> None:
    """Only long runs: in the run folder, else in the user's cache, else not at all."""
    if not timeline.is_long or not has_room_for_tables():
        return
    for folder in _folders(path):
        try:
            make_tables_folder(folder)
            _write(folder, version, shown, timeline)
        except (OSError, UnicodeEncodeError):
            continue
        return


def _write(folder: Path, version: str, shown: Content, timeline: RunTimeline) -> None:
    """The view is written last: a reader that finds it also finds the other files."""
    kept_timeline = keep_timeline(folder, timeline)
    view = _Kept(version=version, timeline=kept_timeline, content=msgspec.Raw(encoded(shown)))
    body = msgspec.json.encode(view)
    replace_file(folder / _VIEW, lambda file: file.write(body))


def kept(path: Path, version: str) -> View | None:
    """What was kept for this version of the run."""
    for folder in _folders(path):
        try:
            found = msgspec.json.decode(read_table(folder, _VIEW), type=_Kept)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if found.version == version and found.timeline.is_whole(folder):
            read = functools.partial(read_timeline, folder, found.timeline)
            return View(bytes(found.content), functools.cache(read))
    return None


def _folders(path: Path) -> tuple[Path, ...]:
    """We write nothing beside another tool's trace."""
    return tables_folders(path)[1:] if is_trace(path) else tables_folders(path)
