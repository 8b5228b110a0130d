"""A process of which another tool's file is all there is, in the form of a recorded one."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stepscope.analyze.traces.collective_calls import shifts_ns
from stepscope.analyze.traces.python_calls import python_calls
from stepscope.analyze.traces.side_by_side import Reader
from stepscope.analyze.traces.surveys import Reading, Survey, reading_of
from stepscope.analyze.traces.windows import kept_trace, trace_of, was_read
from stepscope.errors import NotATrace
from stepscope.importers.importer import importer_of
from stepscope.importers.trace import FunctionLines, Trace
from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.reader import ProcessData, process_of_trace
from stepscope.store.records import CodeName, FileName, Names, ProcessInfo

_LINES_AT_MOST = 100_000  # from the first to the last of a function: more is damage


def infos_of(paths: Sequence[Path], read: Reader) -> list[tuple[ProcessInfo, list[str]]]:
    """What process.json says of each, and notes about it. Those of several ranks get one clock."""
    surveys = read_all(paths, read)
    _require_one(paths, surveys)
    shifts = shifts_ns([each.collectives for each in surveys])
    several = len(paths) > 1
    return [
        (_info(each, shift, several), [*each.notes, *([each.trouble] if each.trouble else [])])
        for each, shift in zip(surveys, shifts, strict=True)
    ]


def read_all(paths: Sequence[Path], read: Reader) -> list[Survey]:
    """After that, none of them is read again, as long as there is room for them."""
    found: dict[Path, Survey] = {}
    for path in paths:
        kept = kept_trace(path)
        if kept is not None:
            found[path] = reading_of(path, kept).survey
    unread = [path for path in dict.fromkeys(paths) if path not in found]

    def take(number: int, reading: Reading) -> None:
        found[unread[number]] = reading.survey
        was_read(unread[number], reading.trace)

    if unread:
        read(unread, take)
    return [found[path] for path in paths]


def _require_one(paths: Sequence[Path], surveys: Sequence[Survey]) -> None:
    """Of several files, some may be damaged; of none of them there is nothing to show."""
    troubles = [each.trouble for each in surveys if each.trouble is not None]
    if paths and len(troubles) == len(paths):
        importer = importer_of(paths[0])  # raises NotATrace if it is of no format
        if importer.is_beside:
            importer.read(paths[0])  # says what it is for
        raise NotATrace(troubles[0])


def _info(found: Survey, shift_ns: int, several: bool) -> ProcessInfo:
    is_timed = found.start_ns > 0
    return ProcessInfo(
        format=fmt.FORMAT_VERSION,
        role="rank" if several and found.rank is not None else "main",
        rank=found.rank,
        pid=found.pid,
        status="ended",
        started_realtime_ns=max(0, found.start_ns + shift_ns) if is_timed else None,
        ended_ticks=max(0, found.end_ns + shift_ns),
        trace_shift_ns=shift_ns,
    )


def process_of(path: Path, info: ProcessInfo, notes: list[str]) -> ProcessData:
    return completed(process_of_trace(path, path, info, notes))


def completed(process: ProcessData) -> ProcessData:
    """With the calls and the lines that its file has, where a recorded process has them."""
    trace = trace_of(process)
    if isinstance(trace, str):
        return process
    calls = python_calls(trace)
    names = Names(
        functions=calls.functions if calls else {}, threads=calls.threads if calls else {}
    )
    blocks = tuple(_block(names, number, each) for number, each in enumerate(_lined(trace), 1))
    return dataclasses.replace(
        process,
        names=names,
        calls=calls.calls if calls else process.calls,
        lines=streams.Lines(blocks=blocks),
    )


def _lined(trace: Trace) -> list[FunctionLines]:
    return [each for each in trace.line_times if each.lines]


def _block(names: Names, number: int, function: FunctionLines) -> streams.CodeBlock:
    """Also the numbers of its code and its file."""
    at = [line for line, _, _ in function.lines]
    first = min(min(at), function.frame.line)
    size = min(max(at) - first + 1, _LINES_AT_MOST)
    file = next((each.id for each in names.files.values() if each.path == function.frame.file), 0)
    if not file:
        file = len(names.files) + 1
        names.files[file] = FileName(file, function.frame.file)
    names.codes[number] = CodeName(number, file, function.frame.function, first, size)
    entries = np.zeros(size, streams.LINE_DTYPE)
    for line, hits, ns in function.lines:
        if line - first < size:
            entries["hits"][line - first], entries["ticks"][line - first] = hits, ns
    return streams.CodeBlock(number, first, 0, 0, 0, 0, entries)
