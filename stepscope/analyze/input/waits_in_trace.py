"""When a trace waits for its batches, and how much of each step that is.

What `show input` says about a trace and what the finding input-bound says come from here.
"""

import dataclasses

from stepscope.analyze.input import tf_data_stages
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.traces.marks import LOADERS, interval, ranges
from stepscope.analyze.traces.tensorboard_steps import step_spans
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.clock import Ints
from stepscope.importers.causes import Causes
from stepscope.importers.trace import Trace


@dataclasses.dataclass(frozen=True, eq=False)
class TraceWaits:
    """`stretches` is a union; the others have an entry for each step, or one for all of it."""

    stretches: tuple[Ints, Ints]
    wait_ns: Ints
    duration_ns: Ints
    is_by_step: bool

    @property
    def are_any(self) -> bool:
        return len(self.stretches[0]) > 0


def waits_in_trace(trace: Trace, causes: Causes | None) -> TraceWaits:
    """`causes`: which event caused which, if the format says so."""
    stretches = tf_data_stages.waits(causes.host) if causes is not None else _loading(trace)
    start_ns, end_ns = _steps(trace, causes)
    is_by_step = len(start_ns) > 0
    if not is_by_step and len(trace.events):
        starts = trace.events["start_ns"]
        start_ns = starts.min(keepdims=True)
        end_ns = (starts + trace.events["duration_ns"]).max(keepdims=True)
    wait_ns = overlap_ns(start_ns, end_ns, stretches)
    return TraceWaits(stretches, wait_ns, end_ns - start_ns, is_by_step)


def _loading(trace: Trace) -> tuple[Ints, Ints]:
    """While a loader of torch is asked for its next batch."""
    return union(*interval(ranges(trace, *LOADERS)))


def _steps(trace: Trace, causes: Causes | None) -> tuple[Ints, Ints]:
    if causes is None:
        spans = step_spans(trace)
        return spans.start_ns, spans.end_ns
    steps = xprof_steps(causes)
    return steps.start_ns[steps.is_whole], steps.end_ns[steps.is_whole]
