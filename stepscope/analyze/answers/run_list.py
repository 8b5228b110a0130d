"""The runs of a folder, from their files alone: a list of many must not read them all."""

import functools
from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.analyze.answers.processes import ending
from stepscope.analyze.run import load
from stepscope.errors import StepscopeError
from stepscope.model import Record
from stepscope.store import format as fmt

_MOST_KNOWN: Final = 2_000


class RunEntry(Record, frozen=True):
    """A run in the list."""

    id: str
    name: str
    command: list[str]
    started_s: float | None
    modified_s: float
    is_running: bool
    script: str | None


def is_run(path: Path) -> bool:
    return (path / fmt.RUN_FILE).is_file() or any(path.glob("proc-*/"))


def run_entry(name: str, path: Path) -> RunEntry:
    stat = path.stat()
    info = _info(path, stat.st_mtime_ns)
    started_ns = info.get("started_realtime_ns")
    command = info.get("command")
    return RunEntry(
        id=name,
        name=name,
        command=[str(each) for each in command] if isinstance(command, list) else [],
        started_s=started_ns / 1e9 if isinstance(started_ns, int) else None,
        modified_s=stat.st_mtime,
        is_running=_is_running(path),
        script=str(info["script"]) if info.get("script") else None,
    )


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _info(path: Path, _changed_ns: int) -> dict[str, Any]:
    try:
        found = msgspec.json.decode((path / fmt.RUN_FILE).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_running(path: Path) -> bool:
    """The supervisor did not see it end, and a process that says it is running still exists."""
    if (path / fmt.SUPERVISOR_FILE).exists() or not _says_so(path):
        return False
    try:
        return ending(load(path)).how == "running"
    except StepscopeError:
        return False


def _says_so(path: Path) -> bool:
    """From the files alone: a list of many runs must not read them all."""
    for file in path.glob(f"proc-*/{fmt.PROCESS_FILE}"):
        try:
            if b'"running"' in file.read_bytes():
                return True
        except OSError:
            continue
    return False
