"""line_profiler's .lprof: the lines of one process, for `python -m line_profiler`."""

import os
from typing import TYPE_CHECKING, Final

from stepscope.model import LinesAnswer
from stepscope.show.selection import only
from stepscope.store.lprof import Timings, encode

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "python -m line_profiler {path}"
UNIT_S: Final = 1e-9


def export(run: "Run", *, process: int | None = None) -> bytes:
    """The lines of the process with this pid; by default the main process (or rank 0)."""
    from stepscope.analyze.code.lines import lines

    if process is None and run.main is not None:
        process = run.main.info.pid
    return encode(timings_of(lines(only(run, process=process)), cwd=run.cwd), UNIT_S)


def timings_of(answer: LinesAnswer, *, cwd: str) -> Timings:
    timings: Timings = {}
    for row in answer.functions:
        # Absolute: a viewer in any folder looks the source up by this path.
        key = (os.path.join(cwd, row.file), row.first_line, row.function)
        timings.setdefault(key, []).extend((line.line, line.hits, line.ns) for line in row.lines)
    return timings
