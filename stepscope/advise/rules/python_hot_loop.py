"""A loop in Python does work by element that one vectorised call would do."""

import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.computing import computing
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.hot_loops import LEAST_TURNS, HotLoop, hot_loops
from stepscope.advise.evidence.own_batches import batches_of, reading_functions
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.after_loop import backward_share, freed_ns
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.one_call import in_one_call_ns
from stepscope.advise.gain.pooled_loop import PooledWork, pooled_loop, pooled_work
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.vectorised import Line, on_tensors, vectorised
from stepscope.advise.rules import input_bound
from stepscope.advise.rules.slow_outlier_steps import added_by_machine
from stepscope.analyze.code.possible_callees import COMPREHENSIONS
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.operators.passes_share import passes_share
from stepscope.analyze.phases.own_batches import OwnBatches
from stepscope.model.categories import OUTLIERS

ID: Final = "python-hot-loop"
_MOST: Final = 0.5
_PURE: Final = 0.6  # of a comprehension's time is spent in its own line, not in a library

_ON_ARRAYS: Final = (
    "Do it for all elements at once with array operations (NumPy, or the framework's own "
    "tensors): whole slices instead of indices, np.where instead of if, sums and products along "
    "an axis. Where array operations do not fit, numba.njit."
)
_ON_TENSORS: Final = (
    "Do it for the whole batch at once with operations on tensors: whole slices instead of "
    "indices, torch.where instead of if, sums and products along an axis. For a function of one "
    "sample, torch.vmap."
)


def judge(case: Case) -> list[Candidate]:
    loops = sorted(
        hot_loops(case.code.sources, case.code.lines, case.machine.with_core)
        + _comprehensions(case),
        key=lambda loop: -loop.ns,
    )
    pool = pooled_work(case)
    beside = case.stacks.claimed_functions | reading_functions(case)
    beside |= pool.places if pool else set()
    batches = batches_of(case)
    kept: list[HotLoop] = []
    candidates = []
    for loop in loops:
        if loop.ns < LEAST_SHARE * case.step_ns or any(_is_part(loop, other) for other in kept):
            continue
        kept.append(loop)
        inside = [look for look in case.stacks.time.looks if _is_inside(case, look, loop)]
        everywhere = [look for look in inside if look.phase != "gc"]  # see gc_pressure
        loop = _without_collections(loop, inside)
        if loop.ns < LEAST_SHARE * case.step_ns or (
            _is_told_elsewhere(case, everywhere, batches) if everywhere else _place(loop) in beside
        ):
            continue
        in_batch = _mostly(everywhere, lambda look: look.phase == "input")
        if not in_batch:  # of two findings about the same wait, this is one
            case.stacks.claimed |= set(everywhere)
        sampled = _without_stalls(case, _as_sampled(case, loop, everywhere), everywhere)
        if not everywhere or _mostly(everywhere, lambda look: look.phase == "forward"):
            sampled = _with_backward(case, sampled, everywhere)
        found = _candidate(case, sampled)
        same = input_bound.ID if in_batch else None
        candidates.append(dataclasses.replace(found, same_time_as=same))
    return [*candidates, *(_of_pool(case, pool) if pool else ())]


def _is_told_elsewhere(case: Case, looks: list[Look], batches: OwnBatches) -> bool:
    """With the loader, with slow steps that no typical step is like, or by a rule before this."""
    if not _mostly(looks, lambda look: look not in case.stacks.claimed):
        return True
    if _mostly(looks, lambda look: look.phase == "input"):
        return not _mostly(looks, batches.makes)
    return _mostly(looks, lambda look: look.is_slow)


def _place(loop: HotLoop) -> tuple[str, str]:
    return loop.function.function.file, loop.function.function.function


def _of_pool(case: Case, pool: PooledWork) -> Iterator[Candidate]:
    """In what the steps hand to other processes or threads, and wait for."""
    found = pooled_loop(case, pool)
    loop = found.less.loop if found else None
    if found is None or loop is None:
        return
    cost_ns = min(pool.wait_ns, pool.wait_ns * loop.ns / found.less.load_ns)
    if cost_ns < LEAST_SHARE * case.step_ns:
        return
    mine = set(pool.looks)
    case.stacks.claim(lambda look: look in mine)
    location, share = loop.hottest.location, cost_ns / case.step_ns
    yield Candidate(
        id=ID,
        title=f"A Python loop in a pool takes {percent(share)} of step time",
        verdict=f"goes to a Python loop in a pool of workers{at(location)}",
        share=share,
        evidence=[
            f"The steps wait {ms(pool.wait_ns)} of their {ms(case.step_ns)} for a pool of "
            f"processes or threads, which together work for {ms(pool.busy_ns)}.",
            f"{_rows(loop)} of {location.file}: {counted(loop.turns or 0.0, 'turn')} a step, "
            f"{ms(loop.ns)} of that.",
        ],
        location=location,
        saving=found.less.in_step(pool.wait_ns),
        fix=_ON_ARRAYS,
        source=case.code.text(location),
    )


def _mostly(looks: list[Look], wanted: Callable[[Look], bool]) -> bool:
    return 2 * sum(look.ns for look in looks if wanted(look)) > sum(look.ns for look in looks)


def _comprehensions(case: Case) -> list[HotLoop]:
    """A line's own comprehension, if most of its time is pure Python."""
    found = []
    for line in case.code.lines:
        if line.ns < LEAST_SHARE * case.step_ns:
            break
        text = case.code.sources.text(line.function.file)
        if line.function.function.endswith(COMPREHENSIONS) or text is None:
            continue
        if not text.has_comprehension(line.row.line):
            continue
        here = [look for look in case.stacks.time.looks if _at_line(case, look, line)]
        total = sum(look.ns for look in here)
        pure = sum(look.ns for look in here if look.is_in_users_line)
        inner = [each for each in case.code.lines if _is_comprehension_of(each, line)]
        turns = max((each.hits for each in inner), default=None)
        if turns is not None and turns < LEAST_TURNS:
            continue
        if total and pure >= _PURE * total:
            number = line.row.line
            found.append(HotLoop(line, number, number, line, line.ns, turns))
    return found


def _is_comprehension_of(each: StepLine, line: StepLine) -> bool:
    is_one = each.function.function.endswith(COMPREHENSIONS)
    return is_one and each.function.file == line.function.file and each.row.line == line.row.line


def _at_line(case: Case, look: Look, line: StepLine) -> bool:
    return any(
        frame.line == line.row.line and case.code.shown(frame) == line.function.file
        for frame in look.users
    )


def _is_part(loop: HotLoop, other: HotLoop) -> bool:
    """Whether it lies inside a loop that is already kept."""
    same_file = loop.function.function.file == other.function.function.file
    return same_file and other.first <= loop.first and loop.last <= other.last


def _is_inside(case: Case, look: Look, loop: HotLoop) -> bool:
    owner = loop.function.function
    return any(
        loop.first <= frame.line <= loop.last
        and case.code.shown(frame) == owner.file
        and _without_comprehension(frame.function.name) == owner.function
        for frame in look.users
    )


def _without_comprehension(name: str) -> str:
    for ending in COMPREHENSIONS:
        name = name.removesuffix(f".<locals>.{ending}")
    return name


def _without_collections(loop: HotLoop, looks: list[Look]) -> HotLoop:
    """Lines are timed with the garbage collections in them, which have a finding of their own."""
    whole = sum(look.ns for look in looks)
    gc = sum(look.ns for look in looks if look.phase == "gc")
    return dataclasses.replace(loop, ns=loop.ns * (1 - gc / whole)) if whole else loop


def _as_sampled(case: Case, loop: HotLoop, looks: list[Look]) -> HotLoop:
    """Counters cover the whole run. On a busy machine its steps are not alike: what was seen in the
    measured ones is then the better figure."""
    share = case.stacks.sure_share(looks)
    if not share or case.machine.busy is None:
        return loop
    error_ns = case.stacks.time.error(share) * case.step_ns
    return dataclasses.replace(loop, ns=share * case.step_ns, error_ns=error_ns, is_timed=False)


def _without_stalls(case: Case, loop: HotLoop, looks: list[Look]) -> HotLoop:
    """What the machine added to slow steps is in counters and looks, but is none of the loop's."""
    beyond_ns = float(case.phase_by_step(OUTLIERS).sum())
    whole = sum(look.ns for look in looks)
    if not beyond_ns or not whole:
        return loop
    slow = sum(look.ns for look in looks if look.is_slow)
    added = min(1.0, float(added_by_machine(case).sum()) / beyond_ns)
    return dataclasses.replace(loop, ns=loop.ns * (1 - added * slow / whole))


def _with_backward(case: Case, loop: HotLoop, looks: list[Look]) -> HotLoop:
    """Operators that a loop in the forward pass calls one by one also run one by one in the
    backward pass, and their graph is freed node by node."""
    share = _backward_share(case, loop)
    if not share:
        return loop
    backward, error_ns = case.phase_ns("backward"), loop.error_ns
    if share > _MOST:  # what else is there may be its own as well
        case.stacks.claim_phase("backward")
        error_ns += (1 - share) * backward
    follows = share * (backward + freed_ns(case, looks))
    return dataclasses.replace(loop, ns=loop.ns + follows, error_ns=error_ns)


def _backward_share(case: Case, loop: HotLoop) -> float:
    try:
        return backward_share(case, _operators(case, loop))
    except CannotJudge:
        return 0.0


def _calls_operators(case: Case, loop: HotLoop) -> bool:
    """Operators of torch: numba cannot compile code on its tensors."""
    return _operators_share(case, loop) > 0 and framework_of(case) == "torch"


def _operators_share(case: Case, loop: HotLoop) -> float:
    try:
        passes_ns = case.phase_ns("forward") + case.phase_ns("backward")
        window, with_core = case.operators, case.machine.with_core
        found = passes_share(
            window, _operators(case, loop), passes_ns=passes_ns, with_core=with_core
        )
        return found.whole
    except CannotJudge:
        return 0.0


def _operators(case: Case, loop: HotLoop) -> npt.NDArray[np.bool_]:
    """Those that its lines call, and those of functions that hardly anything else calls."""
    window = case.operators
    found = window.on_lines(loop.function.function.file, loop.first, loop.last)
    spent: dict[tuple[str, int], list[float]] = collections.defaultdict(lambda: [0.0, 0.0])
    for look in case.stacks.time.looks:
        if look.users:
            place = case.code.shown(look.users[-1]), look.users[-1].line
            spent[place][_is_inside(case, look, loop)] += look.ns
    for (file, line), (elsewhere, inside) in spent.items():
        if inside > elsewhere:
            found |= window.on_lines(file, line, line)
    return window.is_op & found


def _on_tensors(case: Case, loop: HotLoop) -> Saving:
    window, with_core = case.operators, case.machine.with_core
    operators = _operators(case, loop)
    found, in_one_call = computing(window, operators), in_one_call_ns(window, operators)
    saving = on_tensors(
        loop.ns * with_core,
        stays_ns=min(loop.ns * with_core, in_one_call),
        most_stays_ns=min(loop.ns * with_core, found.ns),
        least_stays_ns=min(loop.ns * with_core, found.least_ns, in_one_call),
        operators=window.count(operators),
        turns=loop.turns or LEAST_TURNS,
    )
    return dataclasses.replace(
        saving,
        expected=saving.expected / with_core,
        least=saving.least / with_core - loop.error_ns,
        most=(saving.most or 0.0) / with_core + loop.error_ns,
        recorded_ns=loop.recorded_ns(case.process.info, case.code.lines),
    )


def _on_arrays(case: Case, loop: HotLoop) -> Saving:
    saving = vectorised(loop.ns, _lines(case, loop))
    recorded_ns = loop.recorded_ns(case.process.info, case.code.lines)
    return dataclasses.replace(saving, most=loop.ns + loop.error_ns, recorded_ns=recorded_ns)


def _lines(case: Case, loop: HotLoop) -> Iterator[Line]:
    """The lines that run in it, those of functions that it calls included, with their time by the
    looks at them."""
    known = {(line.function.file, line.row.line): line for line in case.code.lines}
    looks: dict[tuple[str, int], float] = collections.defaultdict(float)
    for look in case.stacks.time.looks:
        if _is_inside(case, look, loop):
            looks[case.code.shown(look.users[-1]), look.users[-1].line] += look.ns
    whole = sum(looks.values())
    for (file, number), ns in looks.items():
        text = case.code.sources.text(file)
        hits = known[file, number].hits if (file, number) in known else loop.turns or 0.0
        took = ns / whole * loop.ns * case.machine.with_core
        yield Line(took, hits, max(1, text.operations(number) if text else 1))


def _us(ns: float) -> str:
    return f"{ns / 1e3:.0f} µs" if ns >= 1e4 else f"{ns / 1e3:.2g} µs"


def _rows(loop: HotLoop) -> str:
    if loop.first == loop.last:
        return f"Line {loop.first}"
    return f"Lines {loop.first}–{loop.last}"


def _candidate(case: Case, loop: HotLoop) -> Candidate:
    location = loop.hottest.location
    share = min(1.0, loop.ns / case.step_ns)
    turns = f"{counted(loop.turns, 'turn')} a step" if loop.turns else "one element at a time"
    each = f", {_us(loop.ns / loop.turns)} each" if loop.turns else ""
    on_tensors = _calls_operators(case, loop)
    return Candidate(
        id=ID,
        title=f"A Python loop takes {percent(share)} of step time",
        verdict=f"goes to a Python loop{at(location)}",
        share=share,
        evidence=[
            f"{_rows(loop)} of {location.file}: {turns}{each}.",
            f"Together {ms(loop.ns)} of the {ms(case.step_ns)} step.",
        ],
        location=location,
        saving=_on_tensors(case, loop) if on_tensors else _on_arrays(case, loop),
        fix=_ON_TENSORS if on_tensors else _ON_ARRAYS,
        trial="replay-result",
        source=case.code.text(location),
    )
