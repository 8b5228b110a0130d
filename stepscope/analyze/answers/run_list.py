"""The runs of a folder, from their files alone: a list of many must not read them all.

What a run's report says in one row (mean step, verdict, duration) is kept beside its tables.
"""

import functools
from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.analyze.answers.processes import ending
from stepscope.analyze.derived import (
    make_tables_folder,
    read_table,
    replace_file,
    tables_folders,
)
from stepscope.analyze.run import load
from stepscope.errors import StepscopeError
from stepscope.model import Record, SummaryAnswer
from stepscope.store import format as fmt
from stepscope.store.plain_files import read_plain

_MOST_KNOWN: Final = 2_000  # as many as the viewer lists
_FIGURES: Final = "figures.json"


class RunFigures(Record, frozen=True):
    """What was found out about a run, in one row."""

    verdict: str
    wall_ns: int
    mean_step_ms: float | None
    per_s: float | None
    samples_per_s: float | None


class RunEntry(Record, frozen=True):
    """A run in the list."""

    id: str
    name: str
    command: list[str]
    started_s: float | None
    modified_s: float
    is_running: bool
    script: str | None
    figures: RunFigures | None = None  # null: it has not been analysed
    change: float | None = None  # its speed-up over the run of the same script before it
    status: str | None = None  # how it ended, in a word or two; null: not known


class _Ended(msgspec.Struct, frozen=True):
    """What supervisor.json says about the end."""

    exit_status: int | None = None
    signal: int | str | None = None


def is_run(path: Path) -> bool:
    return (path / fmt.RUN_FILE).is_file() or any(path.glob("proc-*/"))


def run_entry(name: str, path: Path) -> RunEntry:
    stat = path.stat()
    info = _info(path, stat.st_mtime_ns)
    started_ns = info.get("started_realtime_ns")
    command = info.get("command")
    is_running = _is_running(path)
    return RunEntry(
        id=name,
        name=name,
        command=[str(each) for each in command] if isinstance(command, list) else [],
        started_s=started_ns / 1e9 if isinstance(started_ns, int) else None,
        modified_s=stat.st_mtime,
        is_running=is_running,
        script=str(info["script"]) if info.get("script") else None,
        figures=_figures(path),
        status="recording" if is_running else _ended(path),
    )


def _ended(path: Path) -> str | None:
    """As the supervisor saw it."""
    try:
        found = msgspec.json.decode(read_plain(path / fmt.SUPERVISOR_FILE), type=_Ended)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if found.signal is not None:
        return "killed"
    return "ended" if not found.exit_status else f"failed ({found.exit_status})"


def with_changes(newest_first: list[RunEntry]) -> list[RunEntry]:
    """Each with its speed-up over the last one before it that ran the same script."""
    before: dict[str | None, RunFigures] = {}
    found = []
    for entry in reversed(newest_first):
        known = before.get(entry.script)
        if entry.figures is not None:
            change = _change(known, entry.figures) if known else None
            before[entry.script] = entry.figures
            entry = msgspec.structs.replace(entry, change=change)
        found.append(entry)
    return found[::-1]


def _change(before: RunFigures, after: RunFigures) -> float | None:
    """By samples where both are known: the batch size may differ."""
    pairs = (before.samples_per_s, after.samples_per_s), (before.per_s, after.per_s)
    return next((new / old for old, new in pairs if old and new), None)


def keep_figures(
    path: Path, summary: SummaryAnswer, verdict: str, *, whole_ns: int | None = None
) -> None:
    """In the run folder, else in the user's cache, else not at all. `whole_ns`: with the launcher
    and all ranks, where the summary is about one of them."""
    spread, rate = summary.steps.step_ms, summary.steps.rate
    figures = RunFigures(
        verdict=verdict,
        wall_ns=summary.wall_ns if summary.rank is None else whole_ns or summary.wall_ns,
        mean_step_ms=spread.mean if spread else None,
        per_s=rate.per_s if rate else None,
        samples_per_s=rate.samples_per_s if rate else None,
    )
    body = msgspec.json.encode(figures)
    for folder in tables_folders(path):
        try:
            make_tables_folder(folder)
            replace_file(folder / _FIGURES, lambda file: file.write(body))
        except OSError:
            continue
        return


def _figures(path: Path) -> RunFigures | None:
    for folder in tables_folders(path):
        try:
            return msgspec.json.decode(read_table(folder, _FIGURES), type=RunFigures)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return None


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _info(path: Path, _changed_ns: int) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(read_plain(path / fmt.RUN_FILE))
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
            if b'"running"' in read_plain(file, depth=2):
                return True
        except OSError:
            continue
    return False
