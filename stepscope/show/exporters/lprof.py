"""line_profiler's .lprof: the lines of one process, for `python -m line_profiler`."""

import inspect
import os
import tokenize
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from stepscope.errors import InputError
from stepscope.model import FunctionLines, LinesAnswer
from stepscope.show.selection import only
from stepscope.store.lprof import Timings, encode

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "python -m line_profiler {path}"
UNIT_S: Final = 1e-9
WORTH_A_TABLE: Final = 0.01  # of a module's time: the viewer prints 9 lines for each entry


def export(run: "Run", *, process: int | None = None) -> bytes:
    """The lines of the process with this pid; by default the main process (or rank 0)."""
    from stepscope.analyze.code.lines import lines
    from stepscope.analyze.code.source_texts import source_texts

    if process is None and run.main is not None:
        process = run.main.info.pid
    answer = lines(only(run, process=process))
    if run.is_trace and not answer.functions:
        raise InputError(f"'{run.path}' has no lines to export: another tool recorded it.")
    return encode(timings_of(answer, cwd=run.cwd, texts=source_texts(run, answer)), UNIT_S)


def timings_of(
    answer: LinesAnswer, *, cwd: str, texts: Mapping[str, list[str]] | None = None
) -> Timings:
    timings: Timings = {}
    for row in answer.functions:
        # Absolute: a viewer in any folder looks the source up by this path.
        path = os.path.join(cwd, row.file)
        starts = _starts(row, (texts or {}).get(row.file, []))
        for line in row.lines:
            key = (path, starts.get(line.line, row.first_line), row.function)
            timings.setdefault(key, []).append((line.line, line.hits, line.ns))
    return timings


def _starts(row: FunctionLines, text: list[str]) -> dict[int, int]:
    """Line to the first line of its entry, where that is not the function's.

    line_profiler's viewer takes a module for a function, and shows its first statement, or all up
    to the first `def`. What is worth showing behind that becomes an entry of its own."""
    starts: dict[int, int] = {}
    if row.function != "<module>" or not text:
        return starts
    least = min(WORTH_A_TABLE * row.total_ns, max((line.ns for line in row.lines), default=0))
    start, shown_to = row.first_line, _shown_to(row.first_line, text)
    for line in sorted(row.lines, key=lambda line: line.line):
        if line.line > shown_to and line.ns >= least:
            start, shown_to = line.line, _shown_to(line.line, text)
        if row.first_line < start <= line.line <= shown_to:
            starts[line.line] = start
    return starts


def _shown_to(start: int, text: list[str]) -> int:
    """The last line that the viewer shows of an entry that begins at `start`."""
    try:
        return start + len(inspect.getblock([f"{line}\n" for line in text[start - 1 :]])) - 1
    except (tokenize.TokenError, SyntaxError):
        return start  # not Python as this version knows it
