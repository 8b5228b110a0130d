"""What recording cost: counted events times their measured cost, and the slow paths' own time."""

import functools

import numpy as np
import numpy.typing as npt

from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.events import Costs
from stepscope.store.reader import ProcessData


@functools.lru_cache(maxsize=64)
def modelled_share(process: ProcessData, steps: FoundSteps) -> float:
    """Share of line events and slow paths, between the first and the last measured step if the
    COST records cover that time, else over all that was recorded."""
    measured = np.flatnonzero(steps.is_measured)
    if len(measured):
        period = int(steps.start_ns[measured[0]]), int(steps.end_ns[measured[-1]])
        share = _share_between(process, *period)
        if share is not None:
            return min(1.0, share + calls_share(process))
    recorded_ns = max(1, process.end_ns - process.start_ns)
    return min(1.0, whole_cost_ns(process) / recorded_ns + calls_share(process))


def calls_share(process: ProcessData) -> float:
    """With --calls: what counting them cost, spread evenly over the run."""
    ticks = float(process.calls.calls.astype(np.float64).sum()) * process.info.call_cost_ticks
    return ticks * process.clock.ns_per_tick / max(1, process.end_ns - process.start_ns)


def _share_between(process: ProcessData, start_ns: int, end_ns: int) -> float | None:
    costs = process.costs.by_start()
    if len(costs) < 2:
        return None
    at_ns = costs.at_ns
    first, last = max(start_ns, int(at_ns[0])), min(end_ns, int(at_ns[-1]))
    if 2 * (last - first) < end_ns - start_ns or last <= first:
        return None
    so_far = _price_ns(process, costs)
    spent = float(np.interp(last, at_ns, so_far)) - float(np.interp(first, at_ns, so_far))
    return min(1.0, max(0.0, spent / (last - first)))


def _price_ns(process: ProcessData, costs: Costs) -> npt.NDArray[np.float64]:
    info = process.info
    ticks = (
        costs.slow_ticks.astype(np.float64)
        + costs.line_events.astype(np.float64) * info.event_cost_ticks
        + costs.exit_events.astype(np.float64) * info.exit_cost_ticks
    )
    return ticks * process.clock.ns_per_tick


def whole_cost_ns(process: ProcessData) -> float:
    """Of the whole recording: events from the line counters, slow paths from the last COST."""
    costs = process.costs
    slow_ticks = float(costs.slow_ticks[-1]) if len(costs) else 0.0
    hits = sum(float(block.hits.astype(np.float64).sum()) for block in process.lines.blocks)
    exits = sum(float(block.exits) for block in process.lines.blocks)
    info = process.info
    ticks = slow_ticks + hits * info.event_cost_ticks + exits * info.exit_cost_ticks
    return ticks * process.clock.ns_per_tick
