"""When a trace waits for its batches, and how much of each step that is.

What `show input` says about a trace and what the finding input-bound says come from here.
"""

import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.input import tf_data_stages
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.traces.marks import LOADERS, interval, ranges
from stepscope.analyze.traces.tensorboard_steps import step_spans
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.clock import Ints
from stepscope.importers.causes import Causes
from stepscope.importers.trace import ON_DEVICE, Trace
from stepscope.model.durations import duration

Pair = tuple[Ints, Ints]
_LEAST_HIDDEN: Final = 0.01  # of the wait


@dataclasses.dataclass(frozen=True, eq=False)
class TraceWaits:
    """`stretches` is a union; the others have an entry for each step, or one for all of it."""

    stretches: Pair
    wait_ns: Ints
    duration_ns: Ints
    is_by_step: bool
    hidden_ns: Ints | None  # of the wait, while a device works; None: there is no wait or no device

    @property
    def are_any(self) -> bool:
        return len(self.stretches[0]) > 0

    @property
    def are_hidden(self) -> bool:
        """Whether a device works for much of it."""
        if self.hidden_ns is None:
            return False
        return bool(self.hidden_ns.sum() >= _LEAST_HIDDEN * max(1, self.wait_ns.sum()))

    def about_category(self, category: str) -> list[str]:
        """Beside the steps: why a category of theirs is less than `show input` says."""
        if not self.are_hidden:
            return []
        takes, share = duration(self.wait_ns.mean()), self.wait_ns.sum() / self.duration_ns.sum()
        return [
            f"The host takes {takes} of a step to get its batch ({100 * share:.1f} %, as in "
            f"'show input'). {category} leaves out what a device works in meanwhile: each moment "
            "counts once, and the device comes first."
        ]

    @property
    def about_hidden(self) -> list[str]:
        """Beside the wait: why `show steps` has less."""
        if self.hidden_ns is None or not self.are_hidden:
            return []
        share = self.hidden_ns.sum() / self.duration_ns.sum()
        return [
            f"The device works for {duration(self.hidden_ns.mean())} of the wait "
            f"({100 * share:.1f} % of the step). 'show steps' counts that time as the device's, "
            "not as Input; copies to the device count as Input."
        ]


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
    hidden_ns = _hidden_ns(trace, stretches, start_ns, end_ns)
    return TraceWaits(stretches, wait_ns, end_ns - start_ns, is_by_step, hidden_ns)


def _hidden_ns(trace: Trace, waits: Pair, start_ns: Ints, end_ns: Ints) -> Ints | None:
    """What two unions have in common is what both have, less what either has."""
    works = union(*interval(trace.of(*ON_DEVICE))) if len(waits[0]) else waits
    if not len(works[0]):
        return None
    either = union(*(np.concatenate(both) for both in zip(waits, works, strict=True)))
    in_waits, in_works, in_either = (
        overlap_ns(start_ns, end_ns, each) for each in (waits, works, either)
    )
    hidden: Ints = in_waits + in_works - in_either
    return hidden


def _loading(trace: Trace) -> Pair:
    """While a loader of torch is asked for its next batch."""
    return union(*interval(ranges(trace, *LOADERS)))


def _steps(trace: Trace, causes: Causes | None) -> Pair:
    if causes is None:
        spans = step_spans(trace)
        return spans.start_ns, spans.end_ns
    steps = xprof_steps(causes)
    return steps.start_ns[steps.is_whole], steps.end_ns[steps.is_whole]
