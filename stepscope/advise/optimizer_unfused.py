"""The optimizer walks its parameters one by one."""

from typing import Final

import numpy as np

from stepscope.advise.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.patch import with_argument
from stepscope.advise.words import at, counted, ms, percent
from stepscope.analyze.step_ops import StepOps, elements_of

ID: Final = "optimizer-unfused"
_LEAST_SHARE: Final = 0.12  # of the step: some is what everybody has
_LEAST_OPERATORS: Final = 30  # a step
_TOGETHER: Final = ("_foreach_", "_fused_", "fused_")
_FUSED: Final = ("SGD", "Adam", "AdamW", "Adagrad")  # have fused=True
_OVERHEAD_NS: Final = 60_000.0  # of a fused step, whatever the size
_BY_TENSOR_NS: Final = 6_000.0
_BY_ELEMENT_NS: Final = 1.5  # reading and writing the parameter, its gradient and two moments


def judge(case: Case) -> list[Candidate]:
    if not case.phase_ns("optimizer"):
        raise CannotJudge("no optimizer of a framework was seen")
    cost = case.free_ns("optimizer")  # a hook inside of its step may log, say
    if cost < _LEAST_SHARE * case.step_ns:
        return []
    window = case.operators
    inside = window.in_optimizer & window.is_op
    together = inside & window.named(*_TOGETHER)
    count = window.count(inside)
    if count < _LEAST_OPERATORS:
        return []
    if window.by_step_ns(together) > 0.3 * window.by_step_ns(inside):
        return []
    tensors, elements = _parameters(window, inside)
    fused = _OVERHEAD_NS + _BY_TENSOR_NS * tensors + _BY_ELEMENT_NS * elements
    saved = max(0.0, cost - min(fused, 0.9 * cost))
    location = window.place(inside)
    share = cost / case.step_ns
    name = _name(window)
    case.claim_phase("optimizer")
    return [
        Candidate(
            id=ID,
            title=f"The optimizer makes {counted(count, 'small operator')} a step",
            verdict=f"is the optimizer, one parameter at a time{at(location)}",
            share=share,
            evidence=[
                f"{name}.step takes {ms(cost)} of the {ms(case.step_ns)} of a step "
                f"({percent(share)}), in {counted(count, 'operator')} for some "
                f"{counted(tensors, 'parameter')}, none of them fused.",
            ],
            location=location,
            saving=Saving(saved, 0.6 * saved, min(1.2 * saved, 0.97 * cost)),
            fix=f"{name}(…, fused=True) updates all parameters in one operator"
            + (" (foreach=True where that is refused)." if name in _FUSED else
               "; where this optimizer has no fused=True, foreach=True."),
            patch=_patch(case, name),
            trial="fused-optimizer",
            source=case.text(location),
        )
    ]  # fmt: skip


def _name(window: StepOps) -> str:
    """Adam, of "Optimizer.step#Adam.step"."""
    found = np.flatnonzero(window.named("Optimizer.step#"))
    if not len(found):
        return "the optimizer"
    return window.name(int(found[0])).partition("#")[2].partition(".")[0] or "the optimizer"


def _parameters(
    window: StepOps, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[int, float]:
    """(how many tensors, how many elements) the optimizer updates: those of the operator that is
    called for each of them."""
    names = window.part.tree.events["name"][inside]
    if not len(names):
        return 0, 0.0
    kinds, counts = np.unique(names, return_counts=True)
    dims = window.dims()
    best = (0, 0.0)
    for kind, calls in zip(kinds.tolist(), counts.tolist(), strict=True):
        rows = window.part.tree.events["shapes"][inside & (window.part.tree.events["name"] == kind)]
        elements = sum(elements_of(dims[row]) for row in rows.tolist()) / window.steps
        best = max(best, (round(calls / window.steps), elements), key=lambda each: each[1])
    return best


def _patch(case: Case, name: str) -> str | None:
    if name not in _FUSED:
        return None
    for file in case.sources.files:
        text = case.sources.text(file)
        if text is not None and text.tree is not None:
            found = with_argument(file, text, lambda called: called == name, "fused", "True")
            if found:
                return found
    return None
