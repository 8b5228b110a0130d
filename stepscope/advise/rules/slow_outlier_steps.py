"""A few steps are far slower, and what happened in them."""

from typing import Any, Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.code.sampled_steps import time_in
from stepscope.analyze.counters import grown
from stepscope.analyze.steps.outliers import outliers
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.findings import SlowStep

ID: Final = "slow-outlier-steps"
_MOST_SHOWN: Final = 20  # as many as fit on a screen
_LEAST_OUTLIERS: Final = 3  # one or two are not a pattern
_EXPLAINS: Final = 0.4  # of the extra time: with two causes, one is larger
# Major page faults: 5 ms and more of a disk that is read at random (`python -m
# benchmarks.gain_constants`).
_FAULTS: Final = 50
_PHASES: Final = {
    "gc": "a garbage collection",
    "checkpoint": "a checkpoint was written",
    "compile": "something was compiled",
    "evaluation": "the model was evaluated",
    "logging": "it logged",
    "input": "its batch came late",
    "communication": "it waited for other ranks",
    "sync": "it waited for the device",
    "profiler": "recording itself",
}
_FIXES: Final = {
    "gc": "Collect garbage when it suits you: gc.freeze() after the set-up, gc.disable() and "
    "gc.collect() every N steps; and keep fewer small objects alive.",
    "input": "Let the loader work further ahead: more workers, a larger prefetch_factor, "
    "persistent_workers=True.",
}
_OWN_FINDINGS: Final = ("checkpoint", "evaluation", "compile", "logging", "profiler")
# Waiting for the device is waiting for what the steps before have asked it to compute.
_NOT_LOST: Final = "sync"


def slow_steps(case: Case) -> list[SlowStep]:
    """One by one, the slowest first."""
    indices, usual = _outliers(case)
    order = sorted(indices.tolist(), key=lambda index: -int(case.steps.duration_ns[index]))
    return [
        SlowStep(
            step=index,
            number=index + 1,
            duration_ms=int(case.steps.duration_ns[index]) / 1e6,
            usual_ms=usual / 1e6,
            why=_why(case, index, usual)[1],
        )
        for index in order[:_MOST_SHOWN]
    ]


def judge(case: Case) -> list[Candidate]:
    indices, usual = _outliers(case)
    why = {index: _why(case, index, usual)[0] for index in indices.tolist()}
    indices = np.array([index for index in indices if not _is_explained(why[index])], np.intp)
    if len(indices) < _LEAST_OUTLIERS:
        return []
    kinds: dict[str, float] = {}
    for index in indices.tolist():
        excess = float(case.steps.duration_ns[index]) - usual
        kinds[why[index]] = kinds.get(why[index], 0.0) + excess
    count = max(1, len(case.measured_ns))
    own = {kind: ns / count for kind, ns in kinds.items()}
    cost = sum(own.values())
    if not cost:
        return []
    kind = max(own, key=lambda name: own[name])
    if kind in ("machine", "unknown", "communication") and own[kind] > 0.5 * cost:
        return []  # not the script's doing, or not known to be
    shown = [each for each in slow_steps(case) if each.step in indices]
    share = cost / case.step_ns
    location = _location(case, indices, kind)
    if kind == "gc":
        case.stacks.claim_phase(kind)
    return [
        Candidate(
            id=ID,
            title=f"{len(indices)} of {count} steps are far slower than the others",
            verdict=f"goes to {len(indices)} slow steps: {_PHASES.get(kind, kind)}{at(location)}",
            share=share,
            evidence=[
                f"The usual step takes {ms(usual)}; the extra time of these {len(indices)} is "
                f"{percent(share)} of all step time.",
                *(
                    f"Step {each.number}: {ms(1e6 * each.duration_ms)}, {each.why}."
                    for each in shown[:5]
                ),
            ],
            location=location,
            saving=Saving.without(cost, by_step_ns=_beyond_usual(case, indices, usual)),
            fix=_FIXES.get(kind, "See the steps one by one: stepscope show RUN steps --each."),
            steps_behind=len(indices),
            source=case.code.text(location),
        )
    ]


def _beyond_usual(case: Case, indices: np.ndarray[Any, np.dtype[np.intp]], usual: float) -> Ints:
    """The extra time of these steps, by measured step."""
    extra = np.zeros(len(case.steps), np.int64)
    extra[indices] = case.steps.duration_ns[indices] - np.int64(usual)
    return extra[case.steps.is_measured]


def _is_explained(kind: str) -> bool:
    """Whether another finding explains it, or its time is not lost."""
    return kind in _OWN_FINDINGS or kind == _NOT_LOST


def _location(
    case: Case, indices: np.ndarray[Any, np.dtype[np.intp]], kind: str
) -> Location | None:
    """Where the script is in the slow steps while that happens, or at all."""
    slow = np.zeros(len(case.steps), np.bool_)
    slow[indices] = True
    looks = [look for look in time_in(case.process, case.steps, slow).looks if look.users]
    meant = [look for look in looks if look.phase == kind] or looks
    return where(case, meant, case.stacks.time.looks)[0]


def _outliers(case: Case) -> tuple[np.ndarray[Any, np.dtype[np.intp]], float]:
    """Indices of all steps, and the usual time."""
    found = outliers(case.steps.duration_ns, case.steps.is_measured)
    return found.indices, found.usual_ns


def _why(case: Case, index: int, usual: float) -> tuple[str, str]:
    """(kind, words)"""
    excess = float(case.steps.duration_ns[index]) - usual
    row = case.phases.ns[index]
    medians = case.usual_phases_ns
    over = {
        name: float(row[column] - medians[column])
        for column, name in enumerate(case.phases.names)
        if name in _PHASES
    }
    phase = max(over, key=lambda name: over[name], default=None)
    if phase is not None and over[phase] >= _EXPLAINS * excess:
        return phase, f"{_PHASES[phase]} ({ms(over[phase])})"
    window = case.steps.start_ns[[index]], case.steps.end_ns[[index]]
    transfers, cpu = case.process.transfers, case.process.cpu
    if grown(transfers.at_ns, transfers.major_faults, window)[0] >= _FAULTS:
        return "page cache", "data came from the disk and not from memory"
    used = float(grown(cpu.at_ns, cpu.process_ns, window)[0])
    lasted = float(case.steps.duration_ns[index])
    # Hardly more was computed than in a usual step, and for much of the time nothing at all.
    if used and used < 0.6 * lasted and used < 1.5 * usual:
        return "machine", "the process did not get to run: another one had the machine, or it slept"
    return "unknown", "no single cause is known"
