"""The state of a run: what was derived from another state, or by other code, is out of date."""

import functools
import hashlib
import os
from pathlib import Path
from typing import Any, Final

from stepscope.analyze.traces.foreign import is_trace, traces_in
from stepscope.store import format as fmt
from stepscope.store.plain_files import open_plain

_WATCHED: Final = (fmt.EVENTS_FILE, fmt.LINES_FILE, fmt.SAMPLES_FILE, fmt.PROCESS_FILE)
_OF_THE_RUN: Final = (fmt.RUN_FILE, fmt.SUPERVISOR_FILE, fmt.MEASURED_FILE)
_PACKAGE: Final = Path(__file__).parents[2]


def run_version(path: Path) -> str:
    """Of sizes and times, and of how much each stream holds: writing into a mapped file need not
    change its time. Reading a run does not change it."""
    parts: list[Any] = [path.resolve().name, _code_version()]
    for file in (*(path / name for name in _OF_THE_RUN), *_watched(path)):
        try:
            # A link in a run is not followed; a trace that the user names may be one.
            with file.open("rb") if is_trace(path) else open_plain(file) as content:
                stat = os.fstat(content.fileno())
                head = content.read(fmt.HEADER.size)
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
    """Another version of stepscope may answer differently for the same run."""
    return max(file.stat().st_mtime_ns for file in _PACKAGE.rglob("*.py"))
