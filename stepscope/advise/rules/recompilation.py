"""The graph is traced or compiled again and again."""

import collections
import re
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import framework_of, words_for
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.analyze.intervals import step_of
from stepscope.model import Location
from stepscope.model.rare import of_steps
from stepscope.store.format import SpanCategory

ID: Final = "recompilation"
_LEAST: Final = 2  # compilations after the warm-up: one may be the last, smaller batch
_ENOUGH: Final = 5  # steps without one, for a mean of what a step takes without compiling
# Percentile of the steps without one, where shapes differ: as long as the longest, but for chance.
_LONG: Final = 95
_SHAPES: Final = re.compile(r"\b(shape|size)\b")  # in the reason, as the frameworks put it
_MORE: Final = 1.1  # times the compiling: if more than that goes away, the evidence says why


def judge(case: Case) -> list[Candidate]:
    spans = case.process.spans.of(SpanCategory.COMPILE)
    start = spans.start_ns
    inside = step_of(start, *case.window) >= 0
    count = int(inside.sum())
    cost = case.phase_ns("compile")
    if count < _LEAST or not cost:
        return []
    names = collections.Counter(spans.name[inside].tolist()).most_common(3)
    compiled = [_name(case, number) for number, _ in names]
    location = _location(case)
    by_shapes = any(_SHAPES.search(each) for each in compiled)
    saving = _saving(case, cost, by_shapes=by_shapes)
    compiling = np.unique(step_of(start[inside], *case.window))
    steps = len(compiling)
    case.stacks.claim_phase("compile")
    return [
        Candidate(
            id=ID,
            title=f"{counted(count, 'compilation')} after the warm-up, in {steps} of "
            f"{len(case.measured_ns)} steps",
            verdict=f"goes to recompiling{at(location)}",
            of=of_steps(steps, len(case.measured_ns)),
            share=cost / case.step_ns,
            evidence=[
                f"{counted(count, 'compilation')} in {steps} of {len(case.measured_ns)} measured "
                f"steps, {ms(cost)} of a mean step ({percent(cost / case.step_ns)}).",
                *_no_more(len(case.measured_ns) - 1 - int(compiling[-1]), len(case.measured_ns)),
                *_slow_first_runs(case, cost, saving),
                *(f"Compiled: {name}." for name in compiled if name),
            ],
            location=location,
            saving=saving,
            fix="Give the compiled function the same shapes, types and Python values in every "
            "step: pad or drop the last batch, pass numbers as tensors or arrays, make the "
            f"function once outside the loop; or {words_for(case).recompilation.fix}.",
            trial=words_for(case).recompilation.trial,
            source=case.code.text(location),
        )
    ]


def _saving(case: Case, cost: float, *, by_shapes: bool) -> Saving:
    """If some steps compile nothing, they show what a step takes then: compiling also leaves caches
    cold, and the first calls after it are slow. Where other shapes are why it compiles, the rare
    ones do, which may be the large ones: with all of them padded, each step takes what a long one
    of the others does, and as they are it takes what the others do on average."""
    compiles = case.phase_by_step("compile") > 0
    without = case.measured_ns[~compiles]
    if len(without) < _ENOUGH:
        return Saving(expected=cost + _set_up_ns(case), least=cost, most=None)
    as_they_are = float(without.mean())
    own = case.own_phases_ns[~compiles].sum(axis=1)
    longer = float(np.percentile(own, _LONG) / max(1.0, own.mean())) if by_shapes else 1.0
    left, least_left = (
        min(each, case.step_ns - cost) for each in (max(1.0, longer) * as_they_are, as_they_are)
    )
    beyond = np.where(compiles, case.measured_ns - np.int64(least_left), 0)
    return Saving(
        expected=case.step_ns - left,
        least=cost,
        most=case.step_ns - least_left,
        by_step_ns=beyond,
        is_replaced=False,
    )


def _set_up_ns(case: Case) -> float:
    """By step: what the first run of a graph takes beyond its operators. TensorFlow optimises it
    only then. If no operators were recorded, what a later run would take is not in this run: half
    of it is expected to go away."""
    if framework_of(case) != "tensorflow":
        return 0.0
    first_run = case.phase_ns("compute")
    try:
        window = case.operators
    except CannotJudge:
        return HALF * first_run
    return max(0.0, first_run - window.by_step_ns(window.is_op))


def _no_more(since: int, steps: int) -> list[str]:
    """Each new shape is compiled once: after a while all have been seen."""
    if 2 * since < steps:
        return []
    return [f"None in the last {since} of them: in a longer training the share is smaller."]


def _slow_first_runs(case: Case, cost: float, saving: Saving) -> list[str]:
    """Why more goes away than the compiling itself."""
    if saving.expected < _MORE * cost:
        return []
    left = case.step_ns - saving.expected
    return [
        f"New code is also slow when it first runs: without it a step takes about {ms(left)} "
        f"instead of {ms(case.step_ns)}."
    ]


def _name(case: Case, number: int) -> str:
    name = case.process.names.spans.get(number)
    return name.name if name else ""


def _location(case: Case) -> Location | None:
    """The user's innermost line while it compiles, leaving out the compiled function itself if
    another one calls it."""
    spent: dict[Location, float] = collections.defaultdict(float)
    for look in case.stacks.time.looks:
        if look.phase == "compile" and look.users:
            spent[case.code.place(look.users[-1])] += look.ns
    return max(spent, key=lambda place: spent[place], default=None)
