"""Where other tools put their traces: which of them were recorded together, and which last.

TensorFlow's and JAX's profilers make a folder each time, LOGS/…/plugins/profile/<when>, with a
file for each host. torch's `tensorboard_trace_handler` puts <worker>.<when>.pt.trace.json of all
times and all ranks into one folder.
"""

import calendar
import dataclasses
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from stepscope.errors import DataError
from stepscope.importers.importer import endings, importers
from stepscope.importers.unzip import read_head
from stepscope.store import format as fmt

_DEEPEST: Final = 8  # logs/experiment/version/train/plugins/profile/<when>, and one to spare
_MOST_FOLDERS: Final = 20_000  # a second or two, if somebody gives us a whole disk
_HEAD_BYTES: Final = 2**16  # before its events, a trace lists devices (400 bytes each) and groups
_XPLANE: Final = (".xplane.pb", ".xplane.pb.gz")
_JSON: Final = ".json"
_TORCH: Final = (".pt.trace.json", ".pt.trace.json.gz")
_RANK: Final = re.compile(rb'"distributedInfo":\s*\{[^{}\[\]]*?"rank":\s*(\d+)')
_TORCH_NAME: Final = re.compile(r"(?P<worker>.+?)\.(?P<when>\d{10,19})\.pt\.trace\.json(\.gz)?$")
_WHEN: Final = re.compile(r"\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d")  # 2026_08_01_10_15_00


@dataclasses.dataclass(frozen=True)
class Session:
    """A run, or traces that were recorded together. `path` is what to name it by."""

    path: Path
    files: tuple[Path, ...]
    when_s: float


def is_run(folder: Path) -> bool:
    return (folder / fmt.RUN_FILE).exists() or any(folder.glob("proc-*"))


def is_named_like_one(path: Path) -> bool:
    return path.name.endswith(endings())


def sessions_in(folder: Path) -> list[Session]:
    """Of the folder itself, the newest last. Names that only a profiler gives go first: a folder of
    logs may hold other JSON."""
    files = sorted(path for path in folder.iterdir() if is_named_like_one(path) and path.is_file())
    xplanes = [path for path in files if path.name.endswith(_XPLANE)]
    if xplanes:
        return [Session(folder, tuple(xplanes), _when_s(folder))]
    torchs = [path for path in files if path.name.endswith(_TORCH)]
    if torchs:
        return _torch_sessions(folder, torchs)
    others = tuple(path for path in files if _JSON in path.name and _has_events(path))
    if others:
        return [Session(folder, others, _when_s(folder))]
    alone = [path for path in files if _JSON not in path.name and _is_recognised(path)]
    return sorted((Session(path, (path,), _when_s(path)) for path in alone), key=_age)


def sessions_below(folder: Path) -> tuple[list[Session], list[Session]]:
    """(runs, traces) of the folders in it, the newest last."""
    runs: list[Session] = []
    traces: list[Session] = []
    for each in _folders_below(folder):
        if is_run(each):
            runs.append(Session(each, (), _when_s(each / fmt.RUN_FILE)))
        else:
            found = sessions_in(each)
            traces += found if _are_profilers(found) else []
    return sorted(runs, key=_age), sorted(traces, key=_age)


def _age(session: Session) -> tuple[float, str]:
    return session.when_s, str(session.path)


def _folders_below(top: Path) -> Iterator[Path]:
    """Not into runs, and not into what is hidden."""
    depth_of_top = len(top.parts)
    for seen, (path, folders, _) in enumerate(os.walk(top)):
        folder = Path(path)
        if seen >= _MOST_FOLDERS:
            return
        if folder != top:
            yield folder
        is_end = len(folder.parts) - depth_of_top >= _DEEPEST or (folder != top and is_run(folder))
        folders[:] = [] if is_end else sorted(name for name in folders if name[0] != ".")


def _are_profilers(found: Sequence[Session]) -> bool:
    """By their names; other JSON counts only in the folder that somebody names."""
    return any(session.files[0].name.endswith(_XPLANE + _TORCH) for session in found)


def _has_events(file: Path) -> bool:
    """Also a bare list of them; what cannot be read may have some."""
    try:
        head = read_head(file, _HEAD_BYTES)
    except DataError:
        return True
    return b'"traceEvents"' in head or b'"ph"' in head


def _is_recognised(file: Path) -> bool:
    """By its content: many files that are none of ours end in .zip and .pkl."""
    try:
        head = read_head(file, _HEAD_BYTES)
    except DataError:
        return False
    return any(each.recognises(head) for each in importers() if file.name.endswith(each.endings))


# --- torch's folders ------------------------------------------------------------------------------


def _torch_sessions(folder: Path, files: Sequence[Path]) -> list[Session]:
    """A trace says which rank it is of, if there are several: the last one of each rank is one
    session. One that says nothing is one by itself, unless all files lack a time in their name."""
    if not any(_TORCH_NAME.match(file.name) for file in files):
        return [Session(folder, tuple(files), _when_s(folder))]
    by_age = sorted(files, key=lambda file: (_when_s(file), file.name))
    ranks = {file: _rank(file) for file in by_age}
    last_of_rank = {rank: file for file, rank in ranks.items() if rank is not None}
    together = tuple(sorted(last_of_rank.values())) if len(last_of_rank) > 1 else ()
    alone = [Session(file, (file,), _when_s(file)) for file in by_age if file not in together]
    if not together:
        return alone
    newest = Session(folder, together, max(map(_when_s, together)))
    return sorted([*alone, newest], key=_age)


def _rank(file: Path) -> int | None:
    """None also for what cannot be read: that is said when somebody opens it."""
    try:
        head = read_head(file, _HEAD_BYTES)
    except DataError:
        return None
    found = _RANK.search(head)
    return int(found[1]) if found else None


# --- when -----------------------------------------------------------------------------------------


def _when_s(path: Path) -> float:
    """From its name, else from the file system: copying changes the time of a file."""
    torchs = _TORCH_NAME.match(path.name)
    if torchs:
        digits = torchs["when"]
        return int(digits) / float(10 ** (len(digits) - 10))  # ns, or ms in older versions
    if _WHEN.fullmatch(path.name):
        return float(calendar.timegm(time.strptime(path.name, "%Y_%m_%d_%H_%M_%S")))
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
