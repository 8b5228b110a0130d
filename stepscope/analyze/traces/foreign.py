"""Traces that other tools wrote, opened as if they were runs."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from stepscope.analyze.run import load
from stepscope.analyze.traces import sessions
from stepscope.analyze.traces.sessions import Session
from stepscope.analyze.traces.side_by_side import Reader, side_by_side
from stepscope.analyze.traces.traced_process import completed, infos_of, process_of, read_all
from stepscope.errors import NotATrace
from stepscope.importers.importer import importer_of
from stepscope.store import format as fmt
from stepscope.store.reader import Run
from stepscope.store.records import RunInfo

__all__ = [
    "choose", "is_trace", "load_any", "require_traces", "run_of_trace",
    "traces_in",
]  # fmt: skip

_MOST_NAMED: Final = 3  # other runs or traces in a message
_NOTHING: Final = (
    "'{folder}' is not a run folder: it has no {run_file}. Below it is no run and no trace either: "
    "looked for '*.xplane.pb', '*.pt.trace.json' and '*.pt.trace.json.gz', and in the folder "
    "itself for any '*.json' with trace events and other profilers' files. Give the folder that "
    "'stepscope run' named at its end, a folder that a profiler wrote to, or its file."
)


class Choice(NamedTuple):
    """What a path means, and what to say about that, if anything."""

    path: Path
    words: str | None = None


def is_trace(path: Path) -> bool:
    """A file, or a folder of traces (one per rank) that is not a run."""
    return bool(traces_in(path))


def traces_in(path: Path) -> list[Path]:
    """The file itself, or those in a folder that were recorded together last; none for a run."""
    if path.is_file():
        return [path]
    if not path.is_dir() or sessions.is_run(path):
        return []
    here = sessions.sessions_in(path)
    return list(here[-1].files) if here else []


def require_traces(path: Path) -> None:
    """Raises if one of the files is of no format that we know."""
    for file in traces_in(path):
        importer_of(file)


def load_any(path: str | Path, read: Reader = side_by_side) -> Run:
    """A run, or a trace that another tool wrote; the newest that is in a folder of them."""
    found = choose(Path(path)).path
    if is_trace(found):
        return run_of_trace(found, read)
    run = load(found)
    if run.is_trace:
        read_all([each.trace for each in run.processes if each.trace is not None], read)
        processes = [each if each.trace is None else completed(each) for each in run.processes]
        run = dataclasses.replace(run, processes=processes)
    return run


def choose(path: Path) -> Choice:
    """The newest run below a folder, else the newest trace; what is no such folder is itself."""
    if not path.is_dir() or sessions.is_run(path):
        return Choice(path)
    here = sessions.sessions_in(path)
    runs, below = ([], []) if here else sessions.sessions_below(path)
    found = here or runs or below
    if not found:
        raise NotATrace(_NOTHING.format(folder=path, run_file=fmt.RUN_FILE))
    if found == here and len(here) == 1:
        return Choice(path)
    return Choice(found[-1].path, _chosen_words(path, "run" if runs else "trace", found))


def _chosen_words(folder: Path, what: str, found: Sequence[Session]) -> str:
    newest, *others = reversed(found)
    chosen = f"'{newest.path}'"
    if len(newest.files) > 1:
        chosen += f" ({len(newest.files)} files)"
    if not others:
        return f"the {what} in '{folder}' is {chosen}."
    named = ", ".join(str(each.path) for each in others[:_MOST_NAMED])
    more = ", …" if len(others) > _MOST_NAMED else ""
    return (
        f"the newest of {len(found)} {what}s in '{folder}' is {chosen}. To see another one, give "
        f"it in place of '{folder}': {named}{more}"
    )


def run_of_trace(path: Path, read: Reader = side_by_side) -> Run:
    """A trace that another tool wrote, as a run of one process about which nothing else is known; a
    folder of them as a run of several."""
    files = traces_in(path)
    infos = infos_of(files, read)
    processes = [process_of(file, *each) for file, each in zip(files, infos, strict=True)]
    started_ns = min((each.start_ns for each in processes), default=0)
    info = RunInfo(
        format=fmt.FORMAT_VERSION,
        started_realtime_ns=started_ns or None,
        imported_from=[str(file) for file in files],
    )
    return Run(path, info, None, [], processes, [])
