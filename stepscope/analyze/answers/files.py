"""Which files were opened, from where, how often, and what that cost."""

import collections
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.lifetimes import recorded_stretch_ns
from stepscope.analyze.phases.file_times import time_of_opens
from stepscope.analyze.phases.opened_files import Opens, read_opens
from stepscope.analyze.run import all_notes, code_location, shown_path
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import FileRow, FilesAnswer, Process
from stepscope.store.reader import ProcessData, Run

TO_IMPORT: Final = "(opened by imports)"
_Indices = npt.NDArray[np.intp]


def files(run: Run) -> FilesAnswer:
    """One row per file, opening line and process (workers together), the most expensive first."""
    rows: dict[tuple[object, ...], FileRow] = {}
    whole: collections.Counter[Process] = collections.Counter()
    for process in run.processes:
        opens = read_opens(process, find_steps(run, process))
        threads = len(np.unique(opens.thread))
        whole[process.process] += threads * _wall_ns(run, process)
        for row in _rows(run, process, opens):
            key = (row.path, row.writing, row.location, row.process)
            rows[key] = _together(rows[key], row) if key in rows else row
    found = [_with_share(row, whole[row.process]) for row in rows.values()]
    return FilesAnswer(
        files=sorted(found, key=lambda row: (-row.total_ns, -row.opens, row.path)),
        read_bytes=_last_of_all([each.transfers.read_bytes for each in run.processes]),
        written_bytes=_last_of_all([each.transfers.written_bytes for each in run.processes]),
        notes=all_notes(run),
    )


def _wall_ns(run: Run, process: ProcessData) -> int:
    start_ns, end_ns = recorded_stretch_ns(run, process)
    return end_ns - start_ns


def _with_share(row: FileRow, whole_ns: int) -> FileRow:
    share = min(1.0, row.total_ns / whole_ns) if whole_ns else 0.0
    return msgspec.structs.replace(row, share=share)


def _rows(run: Run, process: ProcessData, opens: Opens) -> list[FileRow]:
    if not len(opens.name):
        return []
    steps = find_steps(run, process)
    took_ns = time_of_opens(process, steps, opens)
    others = np.flatnonzero(~opens.is_importing)
    key = (opens.name * 2 + opens.is_writing)[others]
    order = np.argsort(key, kind="stable")
    groups = np.split(others[order], np.flatnonzero(np.diff(key[order])) + 1)
    rows = [_row(run, process, opens, group, took_ns) for group in groups if len(group)]
    found = [*(row for row in rows if row), *_importing(process, opens)]
    # Not 0 where no steps were found: nobody knows then.
    return found if len(steps) else [msgspec.structs.replace(row, steps=None) for row in found]


def _row(
    run: Run,
    process: ProcessData,
    opens: Opens,
    group: _Indices,
    took_ns: npt.NDArray[np.int64],
) -> FileRow | None:
    name = process.names.opens.get(int(opens.name[group[0]]))
    if name is None:
        return None
    return FileRow(
        path=shown_path(run, name.path),
        opens=len(group),
        writing=bool(opens.is_writing[group[0]]),
        steps=_steps_of(opens, group),
        total_ns=int(took_ns[group].sum()),
        estimated=bool((~opens.is_whole[group]).any()),
        location=code_location(run, process, name.code, name.line),
        process=process.process,
    )


def _importing(process: ProcessData, opens: Opens) -> list[FileRow]:
    """One row for all files that were opened in order to import: their time is that of imports."""
    group = np.flatnonzero(opens.is_importing)
    if not len(group):
        return []
    row = FileRow(
        path=TO_IMPORT,
        opens=len(group),
        writing=False,
        steps=_steps_of(opens, group),
        total_ns=0,
        estimated=False,
        location=None,
        process=process.process,
        importing=True,
    )
    return [row]


def _steps_of(opens: Opens, group: _Indices) -> int:
    step = opens.step[group]
    return len(np.unique(step[step >= 0]))


def _together(one: FileRow, other: FileRow) -> FileRow:
    return msgspec.structs.replace(
        one,
        opens=one.opens + other.opens,
        steps=one.steps if other.steps is None else (one.steps or 0) + other.steps,
        total_ns=one.total_ns + other.total_ns,
        estimated=one.estimated or other.estimated,
    )


def _last_of_all(counters: list[npt.NDArray[np.uint64]]) -> int | None:
    """The last counts of all processes, summed."""
    last = [int(each[-1]) for each in counters if len(each)]
    return sum(last) if last else None
