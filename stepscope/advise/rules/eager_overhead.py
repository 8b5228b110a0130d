"""Many small operators: launching them and the Python around them cost more than the compute."""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.computing import LAUNCH_NS, Computing, computing
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.compiled import Launching, compiled, graph_ns
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.intervals import step_of, union
from stepscope.analyze.operators.passes_share import MOST_BY_OPERATOR_NS
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.clock import Ints
from stepscope.frameworks.table import folders, words_of
from stepscope.model import Location
from stepscope.model.categories import OUTLIERS
from stepscope.store.format import SpanCategory

ID: Final = "eager-overhead"
_Mask = npt.NDArray[np.bool_]
_PASSES: Final = ("forward", "backward")
LEAST_OPERATORS: Final = 300  # a step: a few ms of launching at least
# Of the passes. Compiling a stack of small layers of which 56 % was overhead made it slower.
LEAST_OVERHEAD: Final = 0.7
# Of the passes: what a compiler saves at least, whatever else they do.
_LEAST_FUSED: Final = 0.3
_BREAKS: Final = ("aten::_local_scalar_dense",)  # what `.item()`, `if tensor:` and `int()` end in
# Each has a weight. A gradient is added to each weight once, however often it was used.
_PRODUCTS: Final = ("aten::addmm", "aten::mm", "aten::convolution")
_GRADIENT: Final = "torch::autograd::AccumulateGrad"
_MANY_USES: Final = 2.0  # of a weight: tied ones are used twice
_MANY_CALLS: Final = 4.0  # a step: from here on they are worth a sentence
_MOST_INSIDE: Final = 0.8
_THEIRS: Final = (*folders("tensorflow", "keras", "jax"), "/contextlib.py")
_COMPUTES: Final = ("/execute.py", "/array.py")  # in C below, where the work is done or waited for
_ONE_CALL: Final = 0.1  # of hundreds of launches, at most: some 0.1 ms for a compiled function
LEAST_SHARE: Final = 0.3  # of the step: below that a compiler gains less than it costs


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
    looks = [look for look in case.stacks.free() if _may_launch(look) and _is_theirs(look)]
    compute = _in_a_graph(case, looks)
    cost = case.stacks.sure_share(looks) * case.step_ns - compute
    places = {case.code.place(look.users[-1]) for look in looks if look.users}
    callers = [look for look in case.stacks.free() if _is_caller(case, look, places)]
    cost += case.stacks.sure_share(callers) * case.step_ns  # a compiled function does not run them
    share = cost / case.step_ns
    if share < LEAST_SHARE:
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
            saving=_in_one_call(cost, compute, case.stacks.time.error(share) * case.step_ns),
            fix=words_of(framework).eager.fix,
            trial=words_of(framework).eager.trial,
            library=library,
            source=case.code.text(location),
        )
    ]


def _in_one_call(cost: float, compute: float, error_ns: float) -> Saving:
    """What is done instead is one call. Of what the operators seem to compute, half may be
    launching as well: cold caches make both slow."""
    return Saving(
        expected=cost,
        least=max(0.0, (1 - _ONE_CALL) * cost - error_ns),
        most=cost + HALF * compute + error_ns,
    )


def _may_launch(look: Look) -> bool:
    """Waiting for a batch or for a result is no launch."""
    return look.phase not in ("input", "sync")


def _is_theirs(look: Look) -> bool:
    """Whether the user's code called the framework, whatever that calls in turn."""
    called = look.called
    if called is None:
        return False
    return any(part in called.function.file for part in _THEIRS)


def _is_caller(case: Case, look: Look, places: set[Location]) -> bool:
    in_line = look.is_in_users_line and _may_launch(look)
    return in_line and case.code.place(look.users[-1]) in places


def _in_a_graph(case: Case, looks: list[Look]) -> float:
    """By step, what a graph of the same operators takes: the call, each of its nodes, and what they
    compute. That is what the shortest of a kind took beyond the usual operator, as most are
    launched and do hardly anything; longer ones lost their core, or waited for threads that had
    none. Where operators were not recorded, each takes as long as one does with its Python at most,
    and launching it about as long in C as in Python: what the calls into C take beyond that."""
    with_core = case.machine.with_core
    try:
        window = case.operators
    except CannotJudge:
        in_c = case.stacks.share(look for look in looks if _calls_c(look)) * case.step_ns
        all_ns = case.stacks.share(looks) * case.step_ns
        computes = max(0.0, 2 * in_c - all_ns)
        operators = (all_ns - computes) * with_core / MOST_BY_OPERATOR_NS
        return computes + graph_ns(operators) / with_core
    usual = window.usual_ns(window.is_op)
    launch = min(LAUNCH_NS, float(np.median(usual))) if len(usual) else 0.0
    compute = float(np.maximum(_shortest_ns(window) - launch, 0.0).sum()) / window.steps
    return (compute + graph_ns(window.count(window.is_op))) / with_core


def _shortest_ns(window: StepOps) -> npt.NDArray[np.float64]:
    """Of each operator: the shortest of its name and shapes."""
    took, events = window.self_ns[window.is_op], window.part.tree.events[window.is_op]
    _, kind = np.unique(events[["name", "shapes"]], return_inverse=True)
    least = np.full(int(kind.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, kind, took)
    return least[kind]


def _calls_c(look: Look) -> bool:
    last = look.frames[-1].function.file
    return last.endswith(_COMPUTES) or "/gen_" in last


def _by_operators(case: Case) -> list[Candidate]:
    window = case.operators
    operators = window.is_op & (window.part.tree.self_ns > 0) & _in_passes(case, window)
    count = window.count(operators)
    passes = _passes_ns(case)
    if count < LEAST_OPERATORS or passes < LEAST_SHARE * case.step_ns * case.own_part:
        return []
    found = computing(window, operators)
    overhead = min(passes - min(passes, found.ns), count * MOST_BY_OPERATOR_NS)
    launching = _launching(case, window, operators, found, overhead)
    with_core = case.own_part / _lateness(case)
    # What they seem to compute beyond their elements may be launching: cold caches slow both.
    most = (overhead + max(0.0, min(passes, found.ns) - found.least_ns)) / with_core
    saving = compiled(launching, step_ns=case.step_ns, with_core=with_core, most_ns=most)
    is_most = overhead >= LEAST_OVERHEAD * passes
    if not is_most and saving.least * with_core < _LEAST_FUSED * passes:
        return []
    location = window.place(operators)
    share = overhead / with_core / case.step_ns
    own_us = float(window.usual_ns(operators).sum()) / window.steps / count / 1e3
    return [
        Candidate(
            id=ID,
            title=f"{counted(count, 'small operator')} a step",
            verdict=f"is launching {counted(count, 'small operator')}, and Python{at(location)}",
            share=share,
            evidence=[
                f"{counted(count, 'operator')} a step, {own_us:.1f} µs of their own each.",
                f"The passes take {ms(passes / with_core)} of the {ms(case.step_ns)} step. The "
                f"operators compute for about {ms(found.ns / with_core)} of that, which is their "
                "own time beyond what the smallest of them take. The rest "
                f"({percent(share)} of the step) is launching them and Python.",
                *_limits(launching),
            ],
            location=location,
            saving=saving,
            fix=words_of("torch").eager.fix,
            trial=words_of("torch").eager.trial,
            source=case.code.text(location),
        )
    ]


def _passes_ns(case: Case) -> float:
    """Of the usual step, while it had a core: one that is late for another reason launches no
    more."""
    names = case.phases.names
    each = sum(
        case.own_phases_ns[:, names.index(name)] * case.stacks.free_share(name)
        for name in _PASSES
        if name in names
    )
    return float(min(np.mean(each), np.median(each)))


def _lateness(case: Case) -> float:
    """How much longer the mean step took than the usual one, while both had a core: on a busy
    machine all of a step is slower. What slow steps take beyond it has its own phase."""
    usual = [number for number, name in enumerate(case.phases.names) if name != OUTLIERS]
    each = case.own_phases_ns[:, usual].sum(axis=1)
    return float(max(1.0, np.mean(each) / max(1.0, np.median(each))))


def _launching(
    case: Case, window: StepOps, operators: _Mask, found: Computing, overhead: float
) -> Launching:
    """In the model's calls, if there are any: what is written in functions may be compiled, too."""
    start, end = case.process.spans.of(SpanCategory.FORWARD).interval_ns
    calls = int((step_of(start, *case.window) >= 0).sum()) / max(1, len(case.measured_ns))
    forward = operators & _begins_in(case, window, SpanCategory.FORWARD)
    inside = operators & _within(case, window, start, end)
    breaks = window.count(inside & window.named(*_BREAKS))
    return Launching(
        ns=overhead,
        inside=window.count(inside) / max(1.0, window.count(forward)) if calls else 1.0,
        unfused=found.unfused,
        calls=max(1.0, calls) + breaks,
        uses=_uses(window, forward),
    )


def _uses(window: StepOps, forward: _Mask) -> float:
    weights = window.count(window.named_just(_GRADIENT))
    products = window.count(forward & window.named_just(*_PRODUCTS))
    found = products / weights if weights else 1.0
    return found if found > _MANY_USES else 1.0


def _limits(launching: Launching) -> list[str]:
    """Why a compiler gains less than the launching, or something else gains more."""
    found = []
    if launching.uses > 1:
        found.append(
            f"A step goes through each of its weights about {launching.uses:.0f} times, one after "
            "the other: a layer of torch's own (nn.LSTM instead of a cell), or one product for all "
            "of them, replaces as many calls."
        )
    if launching.calls > _MANY_CALLS:
        found.append(
            f"A compiler has {counted(launching.calls, 'graph')} a step to call, each for a tenth "
            "of a millisecond: the model is called so often, or reads a number (`.item()`) in it."
        )
    if launching.inside < _MOST_INSIDE:
        found.append(
            f"{percent(1 - launching.inside)} of the forward operators are outside the model's own "
            "calls, where compiling the model does not reach."
        )
    return found


def _in_passes(case: Case, window: StepOps) -> _Mask:
    """Not those of a loader, of an evaluation or of the optimizer."""
    return _begins_in(case, window, SpanCategory.FORWARD, SpanCategory.BACKWARD) & (
        ~window.in_optimizer
    )


def _begins_in(case: Case, window: StepOps, *categories: SpanCategory) -> _Mask:
    spans = phase_spans(case.process, case.steps)
    wanted = spans.of(*categories)
    return _within(case, window, spans.start_ns[wanted], spans.end_ns[wanted])


def _within(case: Case, window: StepOps, start: Ints, end: Ints) -> _Mask:
    begins_ns = window.part.tree.events["start_ns"] + case.process.clock.monotonic_ns(0)
    found: _Mask = step_of(begins_ns, *union(start, end)) >= 0
    return found
