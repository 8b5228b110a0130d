"""The optimizer walks its parameters one by one."""

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.patch import with_argument
from stepscope.advise.evidence.user_calls import only_call
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.fused_step import fused, rewritten, together
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.intervals import Intervals, exclusive_by_step
from stepscope.analyze.operators.step_operators import StepOps, elements_of
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.model import Location
from stepscope.store.format import SpanCategory

ID: Final = "optimizer-unfused"
_Mask = npt.NDArray[np.bool_]
# Of the step: every training has some. Fusing at least halves the phase, which gains 6 % here.
LEAST_SHARE: Final = 0.12
_LEAST_OPERATORS: Final = (
    30  # a step: Adam has some ten per parameter, and three parameters are not a model
)
_MOST_TOGETHER: Final = 0.3  # of the operators' time in those for many parameters
_ALIKE: Final = 0.9  # of the elements that another operator has on average
_TOGETHER: Final = ("_foreach_", "_fused_", "fused_")
_FUSED: Final = ("SGD", "Adam", "AdamW", "Adagrad")  # have fused=True
_FOREACH: Final = (
    "Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"
)  # have foreach=True  # fmt: skip
_NEITHER: Final = ("LBFGS", "Muon", "SparseAdam")  # torch's too: there is nothing to turn on
_NO_STEP: Final = -1  # among the names of spans


@dataclasses.dataclass(frozen=True, eq=False)
class _Optimizer:
    name: str  # of its class
    is_own: bool  # the script's or another library's
    cost_ns: float  # of a step
    inside: _Mask  # its operators


def judge(case: Case) -> list[Candidate]:
    if not case.phase_ns("optimizer"):
        raise CannotJudge("no optimizer of a framework was seen")
    if case.free_ns("optimizer") < LEAST_SHARE * case.step_ns or framework_of(case) != "torch":
        return []
    slow = [each for each in _optimizers(case) if _goes_one_by_one(case, each)]
    return [_candidate(case, max(slow, key=lambda each: each.cost_ns))] if slow else []


def _optimizers(case: Case) -> Iterator[_Optimizer]:
    """Those of the window that could do better."""
    window, shares = case.operators, _shares(case)
    cost_ns = case.free_ns("optimizer")  # a hook inside its step may log, say
    for name, inside in window.optimizers.items():
        is_own = name not in (*_FUSED, *_FOREACH, *_NEITHER) or _is_defined(case, name)
        if is_own or name not in _NEITHER:
            yield _Optimizer(name, is_own, cost_ns * shares.get(name, 0.0), inside & window.is_op)


def _shares(case: Case) -> dict[str, float]:
    """Each optimizer's share of the time of all their steps. What a step calls is not its own: the
    passes of a closure, the optimizer that it wraps."""
    spans = phase_spans(case.process, case.steps)
    is_step = spans.of(SpanCategory.OPTIMIZER) & (spans.number > 0)
    ids, labels = np.unique(np.where(is_step, spans.name, _NO_STEP), return_inverse=True)
    activities = Intervals.sorted(spans.start_ns, spans.end_ns, labels)
    own_ns = exclusive_by_step(activities, *case.window, len(ids)).sum(axis=0)
    known = case.process.names.spans
    found = {
        known[id].name: ns
        for id, ns in zip(ids.tolist(), own_ns.tolist(), strict=True)
        if id in known
    }
    whole = max(1, sum(found.values()))
    return {name: ns / whole for name, ns in found.items()}


def _goes_one_by_one(case: Case, optimizer: _Optimizer) -> bool:
    is_much = optimizer.cost_ns >= LEAST_SHARE * case.step_ns
    return is_much and is_one_by_one(case.operators, optimizer.inside)


def is_one_by_one(window: StepOps, inside: _Mask) -> bool:
    """`inside`: an optimizer's operators."""
    if window.count(inside) < _LEAST_OPERATORS:
        return False
    together = inside & window.named(*_TOGETHER)
    return window.by_step_ns(together) <= _MOST_TOGETHER * window.by_step_ns(inside)


def _candidate(case: Case, optimizer: _Optimizer) -> Candidate:
    window, inside, cost = case.operators, optimizer.inside, optimizer.cost_ns
    name, is_own = optimizer.name, optimizer.is_own
    count = window.count(inside)
    tensors, elements = parameters(window, inside)
    share = cost / case.step_ns
    location = window.place(inside)
    if not is_own:
        location = _location(case, location, name)
    case.stacks.claim_phase("optimizer")
    return Candidate(
        id=ID,
        title=f"The optimizer calls {counted(count, 'small operator')} a step",
        verdict=f"is the optimizer, one parameter at a time{at(location)}",
        share=share,
        evidence=[
            f"{name}.step takes {ms(cost)} of the {ms(case.step_ns)} step "
            f"({percent(share)}), in {counted(count, 'operator')} for about "
            f"{counted(tensors, 'parameter')}, none of them fused.",
        ],
        location=location,
        saving=_saving(case, optimizer, tensors, elements, is_own=is_own),
        fix=_fix_of_own(name) if is_own else fix_of(name),
        patch=None if is_own else _patch(case, name),
        trial=None if is_own else "fused-optimizer",
        source=case.code.text(location),
    )


def _saving(
    case: Case, optimizer: _Optimizer, tensors: int, elements: float, *, is_own: bool
) -> Saving:
    """On a device, lists of tensors save about as much as a fused operator: the launches."""
    if optimizer.name in _FUSED or case.operators.has_kernels:
        return fused(optimizer.cost_ns, tensors, elements, case.machine.with_core)
    if is_own:
        return rewritten(optimizer.cost_ns, tensors, elements)
    return together(optimizer.cost_ns, tensors, elements, optimizer.name)


def _fix_of_own(name: str) -> str:
    if name in _FUSED:
        return (
            f"Use torch.optim.{name}(…, fused=True), which updates all parameters in one operator, "
            f"if it does the same as {name} here. Otherwise let its step update lists of tensors: "
            "torch._foreach_mul_ and its kind take all parameters in one call."
        )
    return (
        f"Let {name}.step update lists of tensors: torch._foreach_mul_, torch._foreach_add_ "
        "and their kind take all parameters in one call. Or keep all parameters in one flat "
        "tensor, or use an optimizer of torch.optim with fused=True."
    )


def fix_of(name: str) -> str:
    if name in _FUSED:
        return (
            f"{name}(…, fused=True) updates all parameters in one operator (foreach=True where "
            "that is refused)."
        )
    if name in _FOREACH:
        return f"{name}(…, foreach=True) updates all parameters with a few operators."
    return _fix_of_own(name)


def _location(case: Case, stepped: Location | None, name: str) -> Location | None:
    """The line that calls its step; if a trainer does (`trainer.fit(...)`), the line that makes the
    optimizer."""
    if stepped is None or ".step(" not in (case.code.text(stepped) or ""):
        return only_call(case, name) or stepped
    return stepped


def _is_defined(case: Case, name: str) -> bool:
    """A class in the user's code may be called Adam, too."""
    trees = (
        text.tree for file in case.code.sources.files if (text := case.code.sources.text(file))
    )
    return any(
        isinstance(node, ast.ClassDef) and node.name == name
        for tree in trees
        if tree is not None
        for node in ast.walk(tree)
    )


def parameters(window: StepOps, inside: _Mask) -> tuple[int, float]:
    """(how many tensors, how many elements) the optimizer updates: those of the operator that is
    called for each of them; if there are several, of the one called least: once for each."""
    names = window.part.tree.events["name"][inside]
    if not len(names):
        return 0, 0.0
    kinds, counts = np.unique(names, return_counts=True)
    dims = window.dims()
    found: list[tuple[float, float]] = []
    for kind, calls in zip(kinds.tolist(), counts.tolist(), strict=True):
        rows = window.part.tree.events["shapes"][inside & (window.part.tree.events["name"] == kind)]
        elements = sum(elements_of(dims[row]) for row in rows.tolist()) / window.steps
        found.append((calls / window.steps, elements))
    most = max(found, key=lambda each: each[1])
    like = [each for each in found if each[1] / each[0] > _ALIKE * most[1] / most[0]]
    calls, elements = min(like)
    return round(calls), elements


def _patch(case: Case, name: str) -> str | None:
    if name not in _FUSED:
        return None
    for file in case.code.sources.files:
        text = case.code.sources.text(file)
        if text is not None and text.tree is not None:
            found = with_argument(file, text, lambda called: called == name, "fused", "True")
            if found:
                return found
    return None
