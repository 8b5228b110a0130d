"""A few steps are far slower, and what happened in them."""

import collections
import functools
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import OWN, where
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules import gc_pressure
from stepscope.analyze.code.sampled_steps import time_in
from stepscope.analyze.counters import grown
from stepscope.analyze.input.cores import cores_of_others
from stepscope.analyze.input.epochs import epochs_of
from stepscope.analyze.input.loaders import find_loader, stage_spans
from stepscope.analyze.input.side_by_side import threads_side_by_side
from stepscope.analyze.intervals import step_of
from stepscope.analyze.phases.looks import chance_of
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.phases.typical_steps import KEEP_THEIR_NAMES, epoch_starts, typical_steps
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.loops import Mask
from stepscope.analyze.steps.outliers import outliers
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.categories import CATEGORY_WORDS, OUTLIERS
from stepscope.model.findings import SlowStep
from stepscope.store.reader import ProcessData

ID: Final = "slow-outlier-steps"
MOST_SHOWN: Final = 20  # as many as fit on a screen
_PATTERN: Final = 3  # slow steps: one or two may be chance
# Of all step time: what one or two must cost. As much as logging now and then (logging_stall).
_REAL_SHARE: Final = 0.1
_EXPLAINS: Final = 0.4  # of the extra time: with two causes, one is larger
_TIMES_USUAL: Final = (
    2.0  # a line's share of the slow steps' time: it is slow there, not everywhere
)
_CHANCE: Final = 0.01  # that looks at slow steps meet one line as often if it is no slower there
_CHANCE_OF_STARTS: Final = 0.05  # an epoch's beginning often is slow: less is asked of it
# Major page faults: 5 ms and more of a disk that is read at random (`python -m
# benchmarks.gain_constants`).
_FAULTS: Final = 50
_PHASES: Final = {
    "gc": "garbage was collected",
    "checkpoint": "a checkpoint was written",
    "compile": "something was compiled",
    "evaluation": "the model was evaluated",
    "logging": "it wrote a log",
    "files": "it read a file",
    "input": "its batch came late",
    "communication": "it waited for other ranks",
    "sync": "it waited for the device",
    "profiler": "stepscope's own recording",
}
_NOT_RUNNING: Final = "machine"
_EPOCH: Final = "an epoch began"
_STARTS_WORKERS: Final = "an epoch began and started the loader's workers again"
_BY_DESIGN: Final = "every so many steps it does more than the others"
_CODE: Final = "your own code took longer"
_MACHINE: Final = "the process was not running: another program had the core, or it slept"
_WORDS: Final = {
    **_PHASES,
    "epoch": _EPOCH,
    "workers": _STARTS_WORKERS,
    "code": _CODE,
    "page cache": "data came from disk instead of memory",
    _NOT_RUNNING: _MACHINE,
    "unknown": "no single cause is known",
}
_FIXES: Final = {
    "gc": "Collect garbage when it suits you: gc.freeze() after the set-up, gc.disable() and "
    "gc.collect() every N steps; and keep fewer small objects alive.",
    "input": "Let the loader work further ahead: more workers, a larger prefetch_factor, "
    "persistent_workers=True.",
    "workers": "Keep the loader's workers from epoch to epoch: DataLoader(…, "
    "persistent_workers=True). Fewer workers start sooner, and longer epochs start less often.",
    "code": "Do it less often, outside the steps, or with array operations on the whole batch.",
    "epoch": "Do less where an epoch begins: make the loader or pipeline once and not in every "
    "epoch, fill smaller shuffle buffers, and evaluate, save and plot every few epochs.",
}
_ONE_LOADER: Final = (
    "Make the loader once, before the first epoch, and keep its workers: DataLoader(…, "
    "persistent_workers=True). A loader that each epoch makes anew starts them again all the same."
)
_FEW: Final = "another run may have more or fewer of them"
# Who waits for the device waits for what was asked of it before.
_NOT_THE_SCRIPTS: Final = (_NOT_RUNNING, "unknown", "communication", "sync")


def slow_steps(case: Case) -> list[SlowStep]:
    """One by one, the slowest first; also those that other findings explain."""
    found = outliers(case.steps.duration_ns, case.steps.is_measured)
    order = sorted(found.indices.tolist(), key=lambda index: -int(case.steps.duration_ns[index]))
    return [
        SlowStep(
            step=index,
            number=index + 1,
            duration_ms=int(case.steps.duration_ns[index]) / 1e6,
            usual_ms=found.usual_ns / 1e6,
            why=_cause(case, index)[1],
        )
        for index in order[:MOST_SHOWN]
    ]


def added_by_machine(case: Case) -> Ints:
    """By measured step: what slow ones take above a typical one where another program had the
    machine."""
    return _cost(case, [index for index, why in _whys(case).items() if why[0] == _NOT_RUNNING])


def late_batches_ns(case: Case) -> Ints:
    """By measured step: what slow ones take above a typical one because their batch came late, if
    typical steps wait for theirs, too. It is then chance which of them wait longer."""
    waits = case.phase_ns("input") >= LEAST_SHARE * case.step_ns
    late = [index for index, why in _whys(case).items() if why[0] == "input"]
    return _cost(case, late if waits else [])


def judge(case: Case) -> list[Candidate]:
    kinds = {index: _cause(case, index)[0] for index in _whys(case)}
    is_chance = 0 < list(kinds.values()).count("gc") < _PATTERN  # a machine that stalls then
    has_own = is_chance or gc_pressure.explains(case)
    is_late = bool(late_batches_ns(case).any())
    explained = (*_NOT_THE_SCRIPTS, *(["gc"] if has_own else []), *(["input"] if is_late else []))
    kinds = {index: kind for index, kind in kinds.items() if kind not in explained}
    cost_by_step = _cost(case, list(kinds))
    cost = float(cost_by_step.mean()) * _free_share(case)
    if not cost or (len(kinds) < _PATTERN and cost < _REAL_SHARE * case.step_ns):
        return []
    kind = _largest(case, kinds)
    location = _location(case, kind)
    case.stacks.claim(lambda look: look.is_slow)
    by_step_ns = cost_by_step if len(kinds) >= _PATTERN else None
    saving = Saving.without(cost, by_step_ns=by_step_ns, is_replaced=False)
    return [_candidate(case, list(kinds), kind, location, saving)]


def _candidate(
    case: Case, slow: list[int], kind: str, location: Location | None, saving: Saving
) -> Candidate:
    share = saving.expected / case.step_ns
    count, are = len(slow), "is" if len(slow) == 1 else "are"
    steps = "step" if count == 1 else "steps"
    meant = set(slow)
    shown = [each for each in slow_steps(case) if each.step in meant]
    usual_ns = float(case.measured_ns.mean() - case.phase_ns(OUTLIERS))
    return Candidate(
        id=ID,
        title=f"{count} of {len(case.measured_ns)} steps {are} far slower than the others",
        verdict=f"goes to {count} slow {steps}: {_WORDS[kind]}{at(location)}",
        of="step time",
        share=share,
        evidence=[
            f"A typical step takes {ms(usual_ns)}; what {count} slow {steps} took above that is "
            f"{percent(share)} of step time.",
            *(
                f"Step {each.number}: {ms(1e6 * each.duration_ms)}, {each.why}."
                for each in shown[:5]
            ),
        ],
        location=location,
        saving=saving,
        fix=_fix(case, kind),
        steps_behind=count,
        doubt=_FEW if count < _PATTERN else None,
        source=case.code.text(location),
    )


def _free_share(case: Case) -> float:
    """The part of what was seen in slow steps that no other rule has explained."""
    seen = [look for look in case.stacks.time.looks if look.is_slow]
    whole = case.stacks.share(seen)
    free = case.stacks.share(look for look in seen if look not in case.stacks.claimed)
    return free / whole if whole else 1.0


def _fix(case: Case, kind: str) -> str:
    if kind == "workers" and not epochs_of(case.process, case.steps).keeps_loader:
        return _ONE_LOADER
    return _FIXES.get(kind, "See the steps one by one: stepscope show RUN steps --each.")


def _cost(case: Case, slow: list[int]) -> Ints:
    """What these take above a typical step, by measured step, as in the breakdown."""
    meant = np.zeros(len(case.steps), np.bool_)
    meant[slow] = True
    return case.phase_by_step(OUTLIERS) * meant[case.steps.is_measured]


def _largest(case: Case, kinds: dict[int, str]) -> str:
    """What explains most of the extra time."""
    cost: dict[str, float] = collections.defaultdict(float)
    for index, kind in kinds.items():
        cost[kind] += case.typical.beyond(index)
    return max(cost, key=lambda kind: cost[kind])


def _location(case: Case, kind: str | None = None) -> Location | None:
    """Where the script is in the slow steps while that happens, or at all."""
    looks = [look for look in case.stacks.time.looks if look.is_slow and look.users]
    looks = [look for look in looks if look not in case.stacks.claimed]
    meant = [look for look in looks if look.phase == kind] or looks
    return where(case, meant, case.stacks.time.looks)[0]


def _is_slow_there(case: Case, location: Location) -> bool:
    """Whether much of the extra time is at that line, and far less of a usual step, seen often
    enough: two looks at a line mean nothing."""
    there = set(case.stacks.at(location))
    parts = []
    for is_slow in (True, False):
        looks = [look for look in case.stacks.time.looks if look.is_slow == is_slow]
        whole = case.stacks.share(looks)
        parts.append(case.stacks.share(set(looks) & there) / whole if whole else 0.0)
    slow, usual = parts
    seen = time_in(case.process, case.steps, case.typical.is_slow).count
    is_sure = chance_of(slow, seen=seen, usual=usual) < _CHANCE
    return is_sure and slow >= max(_EXPLAINS, _TIMES_USUAL * usual)


# --- what happened in a step ----------------------------------------------------------------------


def _cause(case: Case, index: int) -> tuple[str, str]:
    """(kind, words): where nothing else is known, the line that is slow in slow steps only."""
    kind, words = _whys(case).get(index) or _why(case, index)
    if kind in (_NOT_RUNNING, "unknown") and not case.typical.is_slow[index]:
        return "code", f"{_BY_DESIGN}{at(_habit(case))}"
    place = _slow_place(case) if kind == "unknown" else None
    return (kind, words) if place is None else ("code", f"{_CODE}{at(place)}")


@functools.lru_cache(maxsize=8)
def _habit(case: Case) -> Location | None:
    """What the steps do that come every N steps and are longer by design."""
    long = outliers(case.steps.duration_ns, case.steps.is_measured).indices
    meant = np.isin(np.arange(len(case.steps)), long) & ~case.typical.is_slow
    seen = time_in(case.process, case.steps, meant).looks
    return where(case, [look for look in seen if look.phase in OWN])[0]


@functools.lru_cache(maxsize=8)
def _slow_place(case: Case) -> Location | None:
    """Found once, before the looks of slow steps are claimed."""
    location = _location(case)
    is_meant = location is not None and _is_slow_there(case, location)
    return location if is_meant else None


@functools.lru_cache(maxsize=8)
def _whys(case: Case) -> dict[int, tuple[str, str]]:
    """By slow step: found once, as a run of millions of steps has tens of thousands."""
    return {index: _why(case, index) for index in case.typical.slow.tolist()}


def _why(case: Case, index: int) -> tuple[str, str]:
    """(kind, words)"""
    over = _over(case, index)
    excess = max(1.0, sum(over.values()))
    phase = max(over, key=lambda name: over[name])
    known = over[phase] >= _EXPLAINS * excess
    if known and phase in KEEP_THEIR_NAMES:
        return phase, f"{_PHASES[phase]} ({ms(over[phase])})"
    starts = epoch_starts(case.process, case.steps)[index]
    if starts and _starts_workers(case, index):
        return "workers", _more_words("workers", phase, over)
    # Wherever the thread was then: it lost its core there by chance.
    if _lost_ns(case.process, case.steps)[index] >= _EXPLAINS * excess:
        return _NOT_RUNNING, _MACHINE
    if starts and _epochs_are_slow(case.process, case.steps):
        return "epoch", _more_words("epoch", phase, over)
    if known and phase == "input" and _took_ns(case, index) >= _EXPLAINS * excess:
        return _NOT_RUNNING, _MACHINE
    if known and phase in _PHASES:
        return phase, f"{_PHASES[phase]} ({ms(over[phase])})"
    return _beside_the_phases(case, index)


def _took_ns(case: Case, index: int) -> float:
    """What other programs computed while the threads of the run were ready, its loader's included:
    whoever waits for those does not wait for a core itself."""
    window = _window(case, index)
    loader = find_loader(case.run, case.process, case.steps)
    processes = [case.process, *(loader.processes if loader else ())]
    threads = threads_side_by_side(case.run, processes, window)
    others = cores_of_others(case.run, case.process, window)
    if threads is None or others is None:
        return 0.0
    return min(threads.ready, others) * float(case.steps.duration_ns[index])


def _more_words(kind: str, phase: str, over: dict[str, float]) -> str:
    return f"{_WORDS[kind]} ({ms(over[phase])} more of {CATEGORY_WORDS[phase]})"


@functools.lru_cache(maxsize=8)
def _epochs_are_slow(process: ProcessData, steps: FoundSteps) -> bool:
    """Whether so many slow steps begin an epoch that it is not chance: where epochs are short, any
    slow step may."""
    measured, is_slow = steps.is_measured, typical_steps(process, steps).is_slow
    starts = epoch_starts(process, steps)
    share = float(starts[is_slow].mean()) if is_slow.any() else 0.0
    usual = float(starts[measured].mean()) if measured.any() else 1.0
    return chance_of(share, seen=int(is_slow.sum()), usual=usual) < _CHANCE_OF_STARTS


def _over(case: Case, index: int) -> dict[str, float]:
    """What the step took of each phase, above the others' mean."""
    phases = phases_by_step(case.process, case.steps)
    others, total, count = _others(case.process, case.steps)
    if others[index]:
        total, count = total - phases.ns[index], count - 1
    over = np.maximum(0.0, phases.ns[index] - total / count if count else phases.ns[index])
    return dict(zip(phases.names, over.tolist(), strict=True))


@functools.lru_cache(maxsize=64)
def _usual_ns(steps: FoundSteps) -> float:
    return float(np.median(steps.duration_ns[steps.is_measured]))


@functools.lru_cache(maxsize=64)
def _others(process: ProcessData, steps: FoundSteps) -> tuple[Mask, Ints, int]:
    """Measured steps that are not slow: which, their time by phase, how many. Once for all slow
    ones: a run of millions of steps has thousands."""
    others = steps.is_measured & ~typical_steps(process, steps).is_slow
    spent_ns = phases_by_step(process, steps).ns.sum(axis=0, where=others[:, None])
    return others, spent_ns, int(others.sum())


def _window(case: Case, index: int) -> tuple[Ints, Ints]:
    return case.steps.start_ns[[index]], case.steps.end_ns[[index]]


@functools.lru_cache(maxsize=8)
def _lost_ns(process: ProcessData, steps: FoundSteps) -> dict[int, float]:
    """How long the thread was ready but had no core, by step that took far longer than usual:
    beyond what others lost for as much time with one. On a busy machine, whatever takes long loses
    its core as often as the rest."""
    slow = outliers(steps.duration_ns, steps.is_measured).indices
    memory = process.memory
    lost = grown(memory.at_ns, memory.run_delay_ns, (steps.start_ns, steps.end_ns))
    usual = steps.is_measured.copy()
    usual[slow] = False
    own = np.maximum(0.0, steps.duration_ns - lost)
    rate = lost[usual].sum() / max(1.0, own[usual].sum())
    beyond = np.maximum(0.0, lost - rate * own)[slow]
    return dict(zip(slow.tolist(), beyond.tolist(), strict=True))


def _starts_workers(case: Case, index: int) -> bool:
    starts = stage_spans(case.process, "start workers").start_ns
    return bool((step_of(starts, *_window(case, index)) >= 0).any())


def _beside_the_phases(case: Case, index: int) -> tuple[str, str]:
    window = _window(case, index)
    transfers, cpu = case.process.transfers, case.process.cpu
    if grown(transfers.at_ns, transfers.major_faults, window)[0] >= _FAULTS:
        return "page cache", _WORDS["page cache"]
    used = float(grown(cpu.at_ns, cpu.process_ns, window)[0])
    lasted = float(case.steps.duration_ns[index])
    # Hardly more was computed than in a usual step, and for much of the time nothing at all.
    usual = _usual_ns(case.steps)
    if used and used < 0.6 * lasted and used < 1.5 * usual:
        return _NOT_RUNNING, _MACHINE
    return "unknown", _WORDS["unknown"]
