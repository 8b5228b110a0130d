"""Many small operators: launching them and the Python around them cost more than the compute."""

from typing import Final

import numpy as np

from stepscope.advise.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.words import at, counted, ms, percent
from stepscope.analyze.step_ops import StepOps

ID: Final = "eager-overhead"
_PASSES: Final = ("forward", "backward")
_LEAST_OPERATORS: Final = 300  # a step
_LAUNCH_NS: Final = 4_000.0  # what an operator costs that computes nothing
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
_TRIALS: Final = {"torch": "compile", "tensorflow": "tf-function", "jax": "jit"}


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:
        raise CannotJudge("no framework trains here")
    window = case.operators
    operators = window.is_op & (window.part.tree.self_ns > 0) & ~window.in_optimizer
    count = window.count(operators)
    passes = sum(case.free_ns(name) for name in _PASSES)
    if count < _LEAST_OPERATORS or passes < 0.3 * case.step_ns:
        return []
    compute = _compute_ns(window, operators)
    overhead = max(0.0, passes - compute)
    if overhead < _LEAST_OVERHEAD * passes:
        return []
    location = window.place(operators)
    share = overhead / case.step_ns
    framework = _framework(case)
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
            saving=Saving.of(overhead, 0.3, 0.95, 0.65),
            fix=_FIXES[framework],
            trial=_TRIALS[framework],
            source=case.text(location),
        )
    ]


def _compute_ns(window: StepOps, operators: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """By step: what operators take beyond the price of launching one."""
    return float(np.maximum(window.self_ns[operators] - _LAUNCH_NS, 0.0).sum()) / window.steps


def _framework(case: Case) -> str:
    """By whose files the stacks lead through."""
    seen = {"torch": 0.0, "tensorflow": 0.0, "jax": 0.0}
    for look in case.time.looks:
        for name in seen:
            if any(f"/{name}/" in frame.function.file for frame in look.frames):
                seen[name] += look.ns
    return max(seen, key=lambda name: seen[name])
