"""What recording cost, as a share: the `profiler` of the measured steps, as in the breakdown."""

import numpy as np

from stepscope.analyze.phases.recording_cost import modelled_share
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.run import shown_path
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.model import Overhead
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

DEFAULT_BUDGET: float = 0.03


def overhead(run: Run, process: ProcessData, steps: FoundSteps) -> Overhead | None:
    """As a share of the time in measured steps; of the recorded time without steps. None: another
    tool recorded it, and what that cost is not known."""
    if process.trace is not None:
        return None
    measured = steps.is_measured
    share = _in_steps(process, steps) if measured.any() else _of_all(process, steps)
    budget = run.info.options.get("budget_share", DEFAULT_BUDGET)
    return Overhead(
        share=min(1.0, share),
        budget=float(budget) if isinstance(budget, int | float) else DEFAULT_BUDGET,
        thinned=thinned(run, process),
        windows=int((~process.windows.is_scripts).sum()),
        windows_ns=_spent_ns(process),
    )


def _in_steps(process: ProcessData, steps: FoundSteps) -> float:
    phases = phases_by_step(process, steps)
    cost_ns = phases.ns[steps.is_measured, phases.names.index("profiler")]
    return float(cost_ns.sum()) / max(1, int(steps.duration_ns[steps.is_measured].sum()))


def _of_all(process: ProcessData, steps: FoundSteps) -> float:
    recorded_ns = max(1, process.end_ns - process.start_ns)
    return modelled_share(process, steps) + _spent_ns(process) / recorded_ns


def _spent_ns(process: ProcessData) -> int:
    """Our own work that is recorded as such: mostly opening and closing operator windows."""
    spans = process.spans.of(SpanCategory.PROFILER).on(process.main_thread)
    start_ns, end_ns = spans.interval_ns
    return int(np.sum(end_ns - start_ns))


def thinned(run: Run, process: ProcessData) -> list[str]:
    """ "file:function" of the code whose lines were thinned out."""
    names = set()
    for block in process.lines.blocks:
        known = process.names.code_and_file(block.code_id)
        if block.is_thinned and known is not None:
            code, file = known
            names.add(f"{shown_path(run, file.path)}:{code.function}")
    return sorted(names)
