"""Named regions: nested by time and thread, with their own and their total time."""

import dataclasses

from stepscope.analyze.answers.span_tree import Path, Total, Totals, add_spans, depth_first
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import Process, RegionRow, RegionsAnswer
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run


@dataclasses.dataclass
class _Whole:
    """What shares are relative to, for one role."""

    steps: int = 0
    steps_ns: int = 0
    recorded_ns: int = 0


def regions(run: Run) -> RegionsAnswer:
    """Depth first: each region, then those inside it, the longest first."""
    totals: dict[Process, Totals] = {}
    wholes: dict[Process, _Whole] = {}
    for process in run.processes:
        steps = find_steps(run, process)
        whole = wholes.setdefault(process.process, _Whole())
        measured = steps.is_measured
        whole.steps += int(measured.sum())
        whole.steps_ns += int(steps.duration_ns[measured].sum())
        whole.recorded_ns += process.end_ns - process.start_ns
        periods = steps.start_ns[measured], steps.end_ns[measured]
        add_spans(totals.setdefault(process.process, {}), process, SpanCategory.REGION, periods)
    rows = [
        _row(who, path, paths[path], wholes[who])
        for who, paths in totals.items()
        for path in depth_first(paths)
    ]
    return RegionsAnswer(regions=rows, notes=all_notes(run))


def _row(who: Process, path: Path, total: Total, whole: _Whole) -> RegionRow:
    share = None
    if whole.steps_ns:
        share = total.in_steps_ns / whole.steps_ns
    elif whole.recorded_ns > 0:
        share = total.total_ns / whole.recorded_ns
    return RegionRow(
        name=path[-1],
        depth=len(path) - 1,
        parent=path[-2] if len(path) > 1 else None,
        process=who,
        calls=total.calls,
        total_ns=total.total_ns,
        self_ns=total.self_ns,
        mean_ns=total.total_ns // max(1, total.calls),
        per_step_ns=total.in_steps_ns // whole.steps if whole.steps else None,
        share=share,
    )
