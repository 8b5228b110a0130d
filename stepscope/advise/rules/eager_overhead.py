"""Many small operators: launching them and the Python around them cost more than the compute."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.intervals import step_of, union
from stepscope.analyze.operators.step_operators import StepOps, elements_of
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.frameworks.table import folders, words_of
from stepscope.model import Location
from stepscope.store.format import SpanCategory

ID: Final = "eager-overhead"
_PASSES: Final = ("forward", "backward")
_LEAST_OPERATORS: Final = 300  # a step: a few ms of launching at least
# Bounds: alone in a loop, an operator takes 1 µs to launch, and 2 µs with Python and autograd
# (`python -m benchmarks.gain_constants`); cold caches, hooks and other programs make it ten times.
_LAUNCH_NS: Final = 15_000.0
_MOST_BY_OPERATOR_NS: Final = 40_000.0  # with the Python around it
# What small tensors, which stay in the cache, take on one core: an addition 0.1 ns an element, a
# tanh 2.5; a small matrix product 0.01 ns a floating-point operation, a thin one more (the same
# command prints them). No operator is assumed to compute longer than it took.
_BY_ELEMENT_NS: Final = 0.3
_BY_FLOP_NS: Final = 0.03
# They compute nothing themselves: views of a tensor, new memory, and what only calls others.
_VIEWS: Final = (
    "alias", "as_strided", "chunk", "detach", "detach_", "empty", "empty_like", "empty_strided",
    "expand", "expand_as", "flatten", "linear", "matmul", "movedim", "narrow", "new_empty",
    "permute", "reshape", "_reshape_alias", "resize_", "select", "set_", "slice", "split",
    "squeeze", "t", "to", "_to_copy", "transpose", "unbind", "unflatten", "unsqueeze", "view",
    "view_as", "_unsafe_view", "zeros", "zeros_like",
)  # fmt: skip
_VIEWS_OF_TORCH: Final = tuple(f"aten::{name}" for name in _VIEWS)
# Of the passes. Compiling a stack of small layers of which 56 % was overhead made it slower.
_LEAST_OVERHEAD: Final = 0.7
# Of the time: dividing by it makes at most five times as much.
_LEAST_CORE: Final = 0.2
_THEIRS: Final = (*folders("tensorflow", "keras", "jax"), "/contextlib.py")
_COMPUTES: Final = ("/execute.py", "/array.py")  # in C below, where the work is done or waited for
_LEAST_SHARE: Final = 0.3  # of the step: below that a compiler gains less than it costs


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:
        raise CannotJudge("no framework trains here")
    framework = framework_of(case)
    return _by_operators(case) if framework == "torch" else _by_python(case, framework)


def _by_python(case: Case, framework: str) -> list[Candidate]:
    """TensorFlow and JAX without a compiled function: the time in their own Python code, in its
    calls into C and in the lines that call it, without what the operators compute."""
    if case.phase_ns("compute"):
        return []
    looks = [look for look in case.stacks.free() if look.phase != "input" and _is_theirs(look)]
    cost = case.stacks.sure_share(looks) * case.step_ns - _beyond_launching(case, looks)
    places = {case.code.place(look.users[-1]) for look in looks if look.users}
    callers = [look for look in case.stacks.free() if _is_caller(case, look, places)]
    cost += case.stacks.sure_share(callers) * case.step_ns  # a compiled function does not run them
    share = cost / case.step_ns
    if share < _LEAST_SHARE:
        return []
    location, library = where(case, looks, case.stacks.time.looks)  # the training itself
    return [
        Candidate(
            id=ID,
            title="Every operator is launched from Python, one by one",
            verdict=f"is Python that launches operators one by one{at(location)}",
            share=share,
            evidence=[
                f"{ms(cost)} of the {ms(case.step_ns)} step are spent in the framework's own "
                "Python code and in the lines that call it; no compiled function was called.",
            ],
            location=location,
            saving=Saving.part_of(cost, expected=0.97, least=0.5),  # one call is left to launch
            fix=words_of(framework).eager.fix,
            trial=words_of(framework).eager.trial,
            library=library,
            source=case.code.text(location),
        )
    ]


def _is_theirs(look: Look) -> bool:
    """Whether the user's code called the framework, whatever that calls in turn."""
    called = look.called
    if called is None:
        return False
    return any(part in called.function.file for part in _THEIRS)


def _is_caller(case: Case, look: Look, places: set[Location]) -> bool:
    in_line = look.is_in_users_line and look.phase != "input"
    return in_line and case.code.place(look.users[-1]) in places


def _beyond_launching(case: Case, looks: list[Look]) -> float:
    """By step, what operators compute. Launching one takes about as long in C as in the Python
    around it: what the calls into C take beyond that, and no more than the operators, where those
    were recorded, took beyond the time of a launch."""
    in_c = case.stacks.share(look for look in looks if _calls_c(look)) * case.step_ns
    around = case.stacks.share(looks) * case.step_ns - in_c
    beyond = max(0.0, in_c - around)
    try:
        window = case.operators
    except CannotJudge:
        return beyond
    took = window.usual_ns(window.is_op)
    return min(beyond, float(np.maximum(took - _LAUNCH_NS, 0.0).sum()) / window.steps)


def _calls_c(look: Look) -> bool:
    last = look.frames[-1].function.file
    return last.endswith(_COMPUTES) or "/gen_" in last


def _by_operators(case: Case) -> list[Candidate]:
    window = case.operators
    operators = window.is_op & (window.part.tree.self_ns > 0) & _in_passes(case, window)
    count = window.count(operators)
    passes = sum(case.free_ns(name) for name in _PASSES)
    if count < _LEAST_OPERATORS or passes < _LEAST_SHARE * case.step_ns:
        return []
    # The passes are as they were, on a machine that others may have used as well.
    compute = min(
        passes, _compute_ns(window, operators) / max(_LEAST_CORE, 1 - case.machine.without_core)
    )
    overhead = min(max(0.0, passes - compute), count * _MOST_BY_OPERATOR_NS)
    if overhead < _LEAST_OVERHEAD * passes:
        return []
    location = window.place(operators)
    share = overhead / case.step_ns
    mean_us = window.by_step_ns(operators) / count / 1e3
    return [
        Candidate(
            id=ID,
            title=f"{counted(count, 'small operator')} a step",
            verdict=f"is the launching of {counted(count, 'small operator')}{at(location)}",
            share=share,
            evidence=[
                f"{counted(count, 'operator')} a step, {mean_us:.1f} µs each on average.",
                f"The passes take {ms(passes)} of the {ms(case.step_ns)} step; what the "
                f"operators compute is about {ms(compute)} of that, the rest ({percent(share)} of "
                "the step) is launching them and Python.",
            ],
            location=location,
            # What is compiled still launches some; a graph with breaks keeps most of its launches.
            saving=Saving.part_of(overhead, expected=0.92, least=0.3),
            fix=words_of("torch").eager.fix,
            trial=words_of("torch").eager.trial,
            source=case.code.text(location),
        )
    ]


def _in_passes(case: Case, window: StepOps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Not those of a loader, of an evaluation or of the optimizer."""
    spans = phase_spans(case.process, case.steps)
    passes = spans.of(SpanCategory.FORWARD, SpanCategory.BACKWARD)
    start_ns = window.part.tree.events["start_ns"] + case.process.clock.monotonic_ns(0)
    inside: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        step_of(start_ns, *union(spans.start_ns[passes], spans.end_ns[passes])) >= 0
    )
    return inside & ~window.in_optimizer


def _compute_ns(window: StepOps, operators: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """By step: what the operators would take if launching them cost nothing, by the elements and
    multiplications they have; no operator takes longer than it usually does. Recording slows down
    small ones, but hardly those that compute."""
    operators = operators & window.named("aten::") & ~window.named_just(*_VIEWS_OF_TORCH)
    rows = window.part.tree.events["shapes"][operators]
    kinds, which = np.unique(rows, return_inverse=True)
    elements = np.array([elements_of(window.dims()[kind]) for kind in kinds.tolist()])
    flops = window.flops(operators)
    most = elements[which] * _BY_ELEMENT_NS + flops * _BY_FLOP_NS
    took = window.usual_ns(operators) * max(1.0, window.slowdown)
    return float(np.maximum(np.minimum(took, most), took - _LAUNCH_NS).sum()) / window.steps
