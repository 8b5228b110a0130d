"""For which views a run has something, from what was recorded alone: nothing is analysed."""

from typing import Final

from stepscope.analyze.imported.contents import views_of_trace
from stepscope.analyze.traces.windows import windows
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

_MASK: Final = "***"  # in the place of a secret in a command


def recorded_views(run: Run) -> list[str]:
    if run.is_trace:
        return views_of_trace(run)
    ranks = {each.info.rank for each in run.processes if each.info.role != "worker"}
    there = {
        "ops": any(len(windows(process)) for process in run.processes),
        "lines": True,
        "files": True,
        "memory": any(len(process.memory) for process in run.processes),
        "input": True,
        "ranks": len(ranks - {None}) > 1,
        "actions": any(len(each.spans.of(SpanCategory.ACTION)) for each in run.processes),
    }
    return [view for view, is_there in there.items() if is_there]


def can_repeat(run: Run) -> bool:
    """Whether its command starts the whole of it again: `stepscope run` recorded it, alone, and
    nothing in the command is masked."""
    is_whole = run.supervisor is not None and run.info.launcher is None
    return is_whole and bool(run.info.command) and _MASK not in " ".join(run.info.command)
