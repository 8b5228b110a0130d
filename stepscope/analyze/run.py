"""Finding and opening runs, and the lookups that every question needs."""

import os
from pathlib import Path
from typing import Final

import numpy as np

from stepscope.errors import InputError
from stepscope.model import Location
from stepscope.store import format as fmt
from stepscope.store import local_folder
from stepscope.store.reader import ProcessData, Run, open_run

__all__ = [
    "Run",
    "all_notes",
    "code_location",
    "line_means_ns",
    "load",
    "newest_run",
    "select",
    "shown_path",
    "source_text",
]

RUNS_FOLDER: Final = "stepscope-runs"
_MOST_NAMED: Final = 4  # processes in a note


def load(path: str | Path) -> Run:
    """Open a run; what a node recorded on its own disk is copied into the run first."""
    missing = local_folder.collect(str(path)) if os.path.isdir(path) else []
    run = open_run(path)
    run.notes.extend(missing)
    return run


def newest_run(folder: str | Path = RUNS_FOLDER) -> Path:
    """The run in `folder` that was started last."""
    runs = [
        (file.stat().st_mtime_ns, file.parent) for file in Path(folder).glob(f"*/{fmt.RUN_FILE}")
    ]
    if not runs:
        raise InputError(
            f"There is no run in '{folder}'. Record one with 'stepscope run SCRIPT', "
            "or name a run folder."
        )
    return max(runs)[1]


def select(run: Run, process: int | None = None, rank: int | None = None) -> ProcessData | None:
    """The process that was asked for by pid or rank; None when the run has no process at all."""
    if process is None and rank is None:
        return run.main
    for candidate in run.processes:
        info = candidate.info
        if (process is None or info.pid == process) and (
            rank is None or (info.rank == rank and info.role != "worker")
        ):
            return candidate
    asked = f"process {process}" if process is not None else f"rank {rank}"
    there = ", ".join(map(_numbered, run.processes)) or "none"
    raise InputError(f"'{run.path}' has no {asked}. Its processes are: {there}.")


def _numbered(process: ProcessData) -> str:
    rank = process.info.rank
    return str(process.info.pid) if rank is None else f"{process.info.pid} (rank {rank})"


def all_notes(run: Run) -> list[str]:
    """What is missing or went wrong: each problem once, with the processes it happened in."""
    pids: dict[str, list[int]] = {}
    for process in run.processes:
        for note in process.notes:
            pids.setdefault(note, []).append(process.info.pid)
    notes = [*run.notes, *(_whose(run, pids) + note for note, pids in pids.items())]
    return list(dict.fromkeys(notes))


def _whose(run: Run, pids: list[int]) -> str:
    """Which processes a note is about; none is named if it is about all of them."""
    several = sorted(set(pids))
    if len(several) >= len(run.processes):
        return ""
    if len(several) == 1:
        return f"process {several[0]}: "
    if len(several) > _MOST_NAMED:
        return f"{len(several)} of {len(run.processes)} processes: "
    return f"processes {', '.join(map(str, several[:-1]))} and {several[-1]}: "


def shown_path(run: Run, path: str) -> str:
    """Relative to the folder the run was started in if it lies inside, else as it is. Of a copy,
    the path of the original: the copy is gone when the run has ended."""
    path, cwd = _original(run, path), _original(run, run.cwd).rstrip(os.sep)
    return path[len(cwd) + 1 :] if cwd and path.startswith(cwd + os.sep) else path


def _original(run: Run, path: str) -> str:
    for copy, original in run.info.copied_from.items():
        if path == copy or path.startswith(copy + os.sep):
            return original + path[len(copy) :]
    return path


def code_location(
    run: Run, process: ProcessData, code_id: int | None, line: int | None
) -> Location | None:
    known = process.names.code_and_file(code_id)
    if known is None or line is None:
        return None
    code, file = known
    return Location(file=shown_path(run, file.path), line=line, function=code.function)


def source_text(run: Run, process: ProcessData, code_id: int, line: int) -> str | None:
    """The text of one line of a code object's file."""
    known = process.names.code_and_file(code_id)
    text = run.source_lines(known[1].source) if known is not None else None
    return text[line - 1] if text and 0 < line <= len(text) else None


def line_means_ns(process: ProcessData) -> dict[tuple[int, int], float]:
    """(code id, line) to the line's mean time per hit."""
    means: dict[tuple[int, int], float] = {}
    for block in process.lines.blocks:
        hits = block.hits
        hit = np.flatnonzero(hits)
        ns = process.clock.duration_ns(block.entries["ticks"][hit])
        for index, mean in zip(hit.tolist(), (ns / hits[hit]).tolist(), strict=True):
            means[block.code_id, block.first_line + index] = mean
    return means
