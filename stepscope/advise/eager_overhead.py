"""Many small operators: launching them and the Python around them cost more than the compute."""

from typing import Final

import numpy as np

from stepscope.advise.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.framework import framework_of
from stepscope.advise.stall import where
from stepscope.advise.words import at, counted, ms, percent
from stepscope.analyze.step_ops import StepOps, elements_of
from stepscope.analyze.step_time import Look

ID: Final = "eager-overhead"
_PASSES: Final = ("forward", "backward")
_LEAST_OPERATORS: Final = 300  # a step
_LAUNCH_NS: Final = 15_000.0  # no launch costs more
_MOST_BY_OPERATOR_NS: Final = 40_000.0  # with the Python around it
# What small tensors, which stay in the cache, take on one core.
_BY_ELEMENT_NS: Final = 0.3
_BY_FLOP_NS: Final = 0.05
_LEAST_OVERHEAD: Final = 0.4  # of the passes
_FIXES: Final = {
    "torch": "torch.compile the model (or the step): it launches few large operators instead of "
    "many small ones. Where it cannot, write the loop of small operations as one on a larger "
    "tensor, use the fused version of the layer, or a larger batch.",
    "tensorflow": "Put the step into a @tf.function: the operators are then launched by the graph "
    "and not one by one from Python.",
    "jax": "Decorate the update with @jax.jit: it is then compiled as a whole instead of "
    "operator by operator.",
}
_THEIRS: Final = (
    "/tensorflow/", "/keras/", "/tf_keras/", "/jax/", "/optax/", "/flax/", "/contextlib.py",
)  # fmt: skip
_COMPUTES: Final = ("/execute.py", "/array.py")  # in C below, where the work is done or waited for
_LEAST_SHARE: Final = 0.3
_TRIALS: Final = {"torch": "compile", "tensorflow": "tf-function", "jax": "jit"}


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:
        raise CannotJudge("no framework trains here")
    framework = framework_of(case)
    return _by_operators(case) if framework == "torch" else _by_python(case, framework)


def _by_python(case: Case, framework: str) -> list[Candidate]:
    """TensorFlow and JAX without a compiled function: what passes in their own Python code and in
    its calls into C, without what operators take longer than it takes to launch one."""
    if case.phase_ns("compute"):
        return []
    looks = [look for look in case.free() if _is_theirs(look)]
    cost = case.sure_share(looks) * case.step_ns - _beyond_launching(case, looks)
    share = cost / case.step_ns
    if share < _LEAST_SHARE:
        return []
    location, library = where(case, looks, case.time.looks)  # the training itself is meant
    return [
        Candidate(
            id=ID,
            title="Every operator is launched from Python, one by one",
            verdict=f"is Python that launches operators one by one{at(location)}",
            share=share,
            evidence=[
                f"{ms(cost)} of the {ms(case.step_ns)} of a step pass in the framework's own "
                "Python code, outside of what computes; no compiled function was called.",
            ],
            location=location,
            saving=Saving.of(cost, 0.5, 1.0, 0.97),  # one call is left to launch
            fix=_FIXES[framework],
            trial=_TRIALS[framework],
            library=library,
            source=case.text(location),
        )
    ]


def _is_theirs(look: Look) -> bool:
    if not look.frames or look.frames[-1].is_users:
        return False
    return any(part in look.frames[-1].function.file for part in _THEIRS)


def _beyond_launching(case: Case, looks: list[Look]) -> float:
    """By step: from the operators; where none were recorded, all of the calls that compute."""
    try:
        window = case.operators
    except CannotJudge:
        return case.share(look for look in looks if _calls_c(look)) * case.step_ns
    took = window.self_ns[window.is_op]
    return float(np.maximum(took - _LAUNCH_NS, 0.0).sum()) / window.steps


def _calls_c(look: Look) -> bool:
    last = look.frames[-1].function.file
    return last.endswith(_COMPUTES) or "/gen_" in last


def _by_operators(case: Case) -> list[Candidate]:
    window = case.operators
    operators = window.is_op & (window.part.tree.self_ns > 0) & ~window.in_optimizer
    count = window.count(operators)
    passes = sum(case.free_ns(name) for name in _PASSES)
    if count < _LEAST_OPERATORS or passes < 0.3 * case.step_ns:
        return []
    compute = _compute_ns(window, operators)
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
                f"{counted(count, 'operator')} a step, {mean_us:.1f} µs each in the mean.",
                f"The passes take {ms(passes)} of the {ms(case.step_ns)} of a step; what the "
                f"operators compute is about {ms(compute)} of that, the rest ({percent(share)} of "
                "the step) is launching them and Python.",
            ],
            location=location,
            saving=Saving.of(overhead, 0.3, 1.0, 0.85),
            fix=_FIXES["torch"],
            trial=_TRIALS["torch"],
            source=case.text(location),
        )
    ]


def _compute_ns(window: StepOps, operators: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """By step: what the operators would take if to launch them cost nothing, by the elements and
    multiplications they have; no operator takes longer than it did."""
    rows = window.part.tree.events["shapes"][operators]
    kinds, which = np.unique(rows, return_inverse=True)
    elements = np.array([elements_of(window.dims()[kind]) for kind in kinds.tolist()])
    flops = window.flops(operators)
    most = elements[which] * _BY_ELEMENT_NS + flops * _BY_FLOP_NS
    took = window.self_ns[operators]
    return float(np.maximum(np.minimum(took, most), took - _LAUNCH_NS).sum()) / window.steps
