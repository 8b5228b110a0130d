"""The magics as IPython knows them: their names, and the help that `%stepline?` prints."""

from collections.abc import Callable
from typing import Any

from IPython.core.magic import MAGIC_NO_VAR_EXPAND_ATTR

from stepscope.ipython.counted import count_lines
from stepscope.ipython.recorded import record


def magics_for(shell: Any) -> list[Callable[..., Any]]:
    """Both work in a line and above a cell."""

    def stepline(line: str = "", cell: str | None = None) -> Any:
        """Count hits and time of lines, exactly.

        %stepline -f FUNCTION [options] STATEMENT    lines of FUNCTION while STATEMENT runs
        %%stepline [options]                         lines of the cell and of what it defines

        -f FUNCTION  a function, method or class to count: any expression without spaces,
                     or a dotted name that can be imported; may be repeated
        -m MODULE    everything that a module defines; may be repeated
        -u UNIT      unit of the times, in seconds: 1e-3 for milliseconds
        -z, -s       leave functions out that never ran
        -T FILE      write the tables to a text file, too
        -D FILE      write the numbers for `python -m line_profiler`
        -r           return the LineProfiler
        -t           store the seconds that it took as _total_time_taken
        -p           %%stepline: only the lines of the cell, not of the functions it defines

        With -f or -m, %%stepline counts only these while the cell runs. The stop button, or an
        exit, ends the code: what was counted up to there is printed.
        """
        __tracebackhide__ = True
        return count_lines(shell, line, cell)

    def stepscope(line: str = "", cell: str | None = None) -> Any:
        """Record a statement or a cell as a run, and show its summary.

        %stepscope [options] STATEMENT
        %%stepscope [options]

        -o RUN    run folder; without it, stepscope-runs/<notebook>-<time>
        --force   replace the run that -o names
        -r        return the Run instead of showing its summary
        --quiet   no summary

        --calls, --exact, --ops, --include, --exclude, --steps, --until-stable, --stop-after,
        --budget, --max-size, --losses and --log mean what they mean to `stepscope run`.
        """
        __tracebackhide__ = True
        return record(shell, line, cell)

    for magic in (stepline, stepscope):
        setattr(magic, MAGIC_NO_VAR_EXPAND_ATTR, True)  # braces in a statement belong to Python
    return [stepline, stepscope]
