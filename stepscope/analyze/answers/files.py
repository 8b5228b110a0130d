"""Which files were opened, from where, how often, and what that cost."""

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import union
from stepscope.analyze.phases.opened_files import Opens, read_opens
from stepscope.analyze.run import all_notes, code_location, shown_path
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.model import FileRow, FilesAnswer
from stepscope.store.reader import ProcessData, Run


def files(run: Run) -> FilesAnswer:
    """One row per file, opening line and process (workers together), the most expensive first."""
    rows: dict[tuple[object, ...], FileRow] = {}
    for process in run.processes:
        for row in _rows(run, process):
            key = (row.path, row.writing, row.location, row.process)
            rows[key] = _together(rows[key], row) if key in rows else row
    return FilesAnswer(
        files=sorted(rows.values(), key=lambda row: (-row.total_ns, -row.opens, row.path)),
        read_bytes=_last_of_all([each.transfers.read_bytes for each in run.processes]),
        written_bytes=_last_of_all([each.transfers.written_bytes for each in run.processes]),
        notes=all_notes(run),
    )


def _rows(run: Run, process: ProcessData) -> list[FileRow]:
    steps = find_steps(run, process)
    opens = read_opens(process, steps)
    if not len(opens.name):
        return []
    key = opens.name * 2 + opens.is_writing
    order = np.argsort(key, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    return [row for group in groups if (row := _row(run, process, steps, opens, group))]


def _row(
    run: Run,
    process: ProcessData,
    steps: FoundSteps,
    opens: Opens,
    group: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> FileRow | None:
    name = process.names.opens.get(int(opens.name[group[0]]))
    if name is None:
        return None
    whole = group[opens.is_whole[group]]
    start, end = union(opens.start_ns[whole], opens.end_ns[whole])
    rest = group[~opens.is_whole[group]]
    step = opens.step[group]
    return FileRow(
        path=shown_path(run, name.path),
        opens=len(group),
        writing=bool(opens.is_writing[group[0]]),
        steps=len(np.unique(step[step >= 0])) if len(steps) else None,
        total_ns=int((end - start).sum() + opens.line_ns[rest].sum()),
        estimated=bool(len(rest)),
        location=code_location(run, process, name.code, name.line),
        process=process.process,
    )


def _together(one: FileRow, other: FileRow) -> FileRow:
    return FileRow(
        path=one.path,
        opens=one.opens + other.opens,
        writing=one.writing,
        steps=one.steps if other.steps is None else (one.steps or 0) + other.steps,
        total_ns=one.total_ns + other.total_ns,
        estimated=one.estimated or other.estimated,
        location=one.location,
        process=one.process,
    )


def _last_of_all(counters: list[npt.NDArray[np.uint64]]) -> int | None:
    """The last counts of all processes, summed."""
    last = [int(each[-1]) for each in counters if len(each)]
    return sum(last) if last else None
