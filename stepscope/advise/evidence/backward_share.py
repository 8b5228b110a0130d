"""Which part of the backward pass some operators have.

1. It goes back through the operators of passes with gradients. Those without (a policy that acts, a
   teacher), and what is done with their results, are in the forward pass, but have no backward.
2. A window may end before the backward pass, so forward operators stand for it, too.
"""

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import Case
from stepscope.analyze.intervals import overlap_ns
from stepscope.analyze.operators.passes_share import passes_share
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.span_table import without_gradients
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory

_Mask = npt.NDArray[np.bool_]


def backward_share(case: Case, kept: _Mask) -> float:
    """`kept`: of the window's operators."""
    window, (start_ns, end_ns) = case.operators, _without_gradients(case)
    begins_ns = window.part.tree.events["start_ns"] + case.process.clock.monotonic_ns(0)
    passes_ns = case.phase_ns("forward") + case.phase_ns("backward")
    passes_ns -= float(overlap_ns(*case.window, (start_ns, end_ns)).mean())
    return passes_share(
        window,
        kept,
        passes_ns=max(0.0, passes_ns),
        with_core=case.machine.with_core,
        among=_outside(begins_ns, start_ns, end_ns),
    ).whole


def _without_gradients(case: Case) -> tuple[Ints, Ints]:
    """From each such pass to the next pass of any kind."""
    spans = phase_spans(case.process, case.steps)
    wanted = spans.of(SpanCategory.FORWARD, SpanCategory.BACKWARD)
    start_ns, is_without = spans.start_ns[wanted], without_gradients(spans)[wanted]
    until_ns = np.append(start_ns[1:], spans.end_ns.max(initial=0))
    return start_ns[is_without], until_ns[is_without]


def _outside(at_ns: Ints, start_ns: Ints, end_ns: Ints) -> _Mask:
    index = np.searchsorted(start_ns, at_ns, side="right") - 1
    found: _Mask = index < 0
    found[~found] = at_ns[~found] >= end_ns[index[~found]]
    return found
