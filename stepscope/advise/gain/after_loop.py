"""What goes away with a loop over operators in the forward pass.

1. Its part of the backward pass, which goes back through operators with gradients. Those without
   (a policy that acts, a teacher), and what is done with their results, have no backward. A window
   may end before the backward pass, so forward operators stand for it, too.
2. The freeing of its graph, node by node. It lives as long as the loss that it led to: until the
   line that called the loop gives that name the next one. No Python runs there, and the operators
   of that line are known: what it takes beyond them is freeing.
"""

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import Case
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.intervals import overlap_ns
from stepscope.analyze.operators.passes_share import passes_share
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.span_table import without_gradients
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.store.format import SpanCategory

_Mask = npt.NDArray[np.bool_]
_ASSIGNS: Final = re.compile(r"\s*[\w.]+(\s*,\s*[\w.]+)*\s*=(?!=)")
_PHASES: Final = ("forward", "prepare", "python")  # that a script's own lines are seen in


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


def freed_ns(case: Case, inside: Iterable[Look]) -> float:
    """By step. `inside`: the looks at the loop."""
    known = set(inside)
    around = {case.code.place(frame) for look in known for frame in look.users}
    looks = [
        look
        for look in case.stacks.free(*_PHASES)
        if look not in known and look.is_in_users_line and _assigns(case, look, around)
    ]
    lines = {case.code.place(look.users[-1]) for look in looks}
    spent_ns = case.stacks.sure_share(looks) * case.step_ns
    return max(0.0, spent_ns - sum(_operators_ns(case, line) for line in lines))


def _assigns(case: Case, look: Look, around: set[Location]) -> bool:
    place = case.code.place(look.users[-1])
    return place in around and bool(_ASSIGNS.match(case.code.text(place) or ""))


def _operators_ns(case: Case, line: Location) -> float:
    window = case.operators
    here = window.is_op & window.on_lines(line.file, line.line, line.line)
    return float(window.usual_ns(here).sum()) / window.steps / case.machine.with_core
