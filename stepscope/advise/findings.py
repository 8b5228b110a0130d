"""All findings of a run: from every rule, weighed, sorted, and summed up in one sentence.

1. Rules go from the specific to the general; each claims the time that it explains.
2. What gains less than 3 % is left out unless all are asked for.
3. The largest gain comes first; what ends the job stands with the gains of its severity. Each gain
   is relative to the whole step as it is; each finding also says what it still gains when those
   before it are fixed.
"""

import dataclasses
import importlib
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.host_case import NO_STEPS, HostCase
from stepscope.advise.evidence.words import counted, fixed, gain, ms, percent, times
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.computed_beside import limited
from stepscope.advise.gain.least import LEAST_GAIN
from stepscope.advise.gain.measured import as_speedup, how_sure, in_words, measured_gain
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.whatif import Steps, one_after_another, speedup
from stepscope.advise.rules import thread_oversubscription
from stepscope.advise.rules.slow_outlier_steps import added_by_machine, slow_steps
from stepscope.analyze.code.possible_callees import COMPREHENSIONS
from stepscope.analyze.run import all_notes, select
from stepscope.model import Location, Process
from stepscope.model.findings import (
    Finding,
    FindingsAnswer,
    NotJudged,
    Severity,
    SlowStep,
    Speedup,
)
from stepscope.model.rare import goes_on
from stepscope.store.reader import Run
from stepscope.store.records import MeasuredGain

# They claim their time in this order.
RULES: Final = (
    "recompilation",
    "checkpoint_stall",
    "repeated_load",
    "host_code_again",
    "evaluation_stall",
    "logging_stall",
    "straggler_rank",
    "exposed_communication",
    "python_in_graph",
    "optimizer_unfused",
    "python_hot_loop",
    "input_bound",
    "thread_oversubscription",
    "float64_compute",
    "eager_overhead",
    "slow_outlier_steps",
    "gc_pressure",
    "host_code",
    "memory_growth",
)
DEVICE_RULES: Final = (
    "device.sync_stall",
    "device.pageable_copy",
    "device.no_mixed_precision",
    "device.small_batch",
    "device.device_idle",
)
# The rules for a trace without a recording around it.
TRACE_RULES: Final = (
    "device.input_bound_in_trace",
    "device.exposed_communication_in_trace",
    *DEVICE_RULES,
)
# The rules for such a trace if nothing ran on a device.
HOST_TRACE_RULES: Final = (
    "host_trace.input_bound",
    "host_trace.exposed_communication",
    "host_trace.float64_compute",
    "host_trace.optimizer_unfused",
    "host_trace.eager_overhead",
)
_LEAST_STEPS: Final = 5  # as many as the warm-up has: fewer may still be part of it
_FEW_STEPS: Final = 20  # with fewer, a single odd one is more than 5 % of them
# The standard deviation, of the mean step: then a step in six is shorter than half of the mean or
# longer than one and a half.
_UNEVEN: Final = 0.5
_HIGH: Final = 1.5  # a third of the time: two days instead of three
_MEDIUM: Final = 1.15  # an hour of a working day


def findings(run: Run, every: bool = False, predicted: bool = False) -> FindingsAnswer:
    """`every`: also those that gain too little to matter. `predicted`: also where a gain was
    measured. Never fails: the answer says so if a run cannot be judged."""
    try:
        return _findings(run, every, [] if predicted else run.measured)
    except Exception as error:  # a damaged run
        words = f"The checks failed on this run: {type(error).__name__}: {error}"
        return _nothing(words, all_notes(run))


def _findings(run: Run, every: bool, measured: Sequence[MeasuredGain]) -> FindingsAnswer:
    process = select(run)
    if process is None:
        return _nothing("Nothing was recorded.", all_notes(run))
    if process.trace is not None:
        return _of_trace(run, DeviceCase(run, process), every)
    case = Case(run, process)
    count = len(case.measured_ns) if len(case.steps) else 0
    if count < _LEAST_STEPS:
        return _nothing(_too_few(case, count), all_notes(run))
    candidates, not_judged = _ask(RULES, case)
    candidates = limited_to_the_same_time(limited(case, candidates))
    on_device, no_device = _ask(DEVICE_RULES, DeviceCase(run, process, case))
    busy = busy_machine(case, candidates)
    lost_ns = None if _lacks_cores(candidates) else case.machine.delay_by_step_ns
    steps = Steps(case.measured_ns, lost_ns, case.recording_share, added_by_machine(case))
    weighed = _Weighed(steps, process.process, [*candidates, *on_device], every, busy, measured)
    return FindingsAnswer(
        verdict=weighed.verdict,
        findings=weighed.findings,
        not_judged=[*not_judged, *no_device],
        outliers=_outliers(case),
        notes=all_notes(run),
    )


def _of_trace(run: Run, device: DeviceCase, every: bool) -> FindingsAnswer:
    """What another tool recorded: operators and kernels only."""
    try:
        step_ns = device.device.step_ns
    except CannotJudge:
        return _of_host_trace(run, HostCase(run, device.process), every)
    found, not_judged = _ask(TRACE_RULES, device)
    not_judged += _unasked(TRACE_RULES, RULES, "a trace has operators and kernels only")
    who, is_by_step = device.process.process, device.is_by_step
    weighed = _Weighed(Steps(step_ns), who, found, every, has_steps=is_by_step)
    return _traced(run, weighed, not_judged)


def _of_host_trace(run: Run, host: HostCase, every: bool) -> FindingsAnswer:
    """Of the CPU only: the device's findings do not apply."""
    found, not_judged = _ask(HOST_TRACE_RULES, host)
    not_judged += _unasked(HOST_TRACE_RULES, RULES, "a trace has operators only")
    not_judged += _unasked(HOST_TRACE_RULES, DEVICE_RULES, "nothing ran on a device in this trace")
    try:
        step_ns = host.host.step_ns
    except CannotJudge:
        return _nothing("Nothing ran on a device in this trace.", all_notes(run))
    who, is_by_step = host.process.process, host.host.is_by_step
    weighed = _Weighed(Steps(step_ns), who, found, every, has_steps=is_by_step)
    if not found:
        weighed.verdict += " Nothing ran on a device in this trace: only the CPU was judged."
    return _traced(run, weighed, not_judged)


def _unasked(asked: tuple[str, ...], rules: tuple[str, ...], reason: str) -> list[NotJudged]:
    judged = {id_of(name) for name in asked}
    missing = dict.fromkeys(each for each in map(id_of, rules) if each not in judged)
    return [NotJudged(id=each, reason=reason) for each in missing]


def _traced(run: Run, weighed: "_Weighed", not_judged: list[NotJudged]) -> FindingsAnswer:
    return FindingsAnswer(
        verdict=weighed.verdict,
        findings=weighed.findings,
        not_judged=not_judged,
        notes=all_notes(run),
    )


def _nothing(words: str, notes: list[str]) -> FindingsAnswer:
    ids = dict.fromkeys(map(id_of, (*RULES, *DEVICE_RULES)))
    reasons = [NotJudged(id=each, reason=words) for each in ids]
    return FindingsAnswer(verdict=words, findings=[], not_judged=reasons, notes=notes)


def id_of(rule: str) -> str:
    """The id of the finding that a rule's module reports."""
    name = rule.rpartition(".")[2].removesuffix("_in_trace").removesuffix("_again")
    return name.replace("_", "-")


def _too_few(case: Case, measured: int) -> str:
    if not len(case.steps):
        return f"No steps were found, so the checks do not apply: {case.steps.reason}"
    steps = "1 measured step is" if measured == 1 else f"{measured} measured steps are"
    return f"{steps} too few: the checks need at least {_LEAST_STEPS}. Record a longer run."


def _ask(rules: tuple[str, ...], case: object) -> tuple[list[Candidate], list[NotJudged]]:
    """A rule that fails does not affect the others."""
    candidates: list[Candidate] = []
    not_judged: list[NotJudged] = []
    for name in rules:
        rule = importlib.import_module(f"stepscope.advise.rules.{name}")
        try:
            candidates += rule.judge(case)
        except CannotJudge as reason:
            not_judged.append(NotJudged(id=id_of(name), reason=str(reason)))
        except Exception as error:
            words = f"the check failed on this run: {type(error).__name__}: {error}"
            not_judged.append(NotJudged(id=id_of(name), reason=words))
    return candidates, not_judged


def busy_machine(case: Case, candidates: list[Candidate]) -> str | None:
    """Set unless the training's own threads are reported as the reason."""
    return None if _lacks_cores(candidates) else case.machine.busy


def _lacks_cores(candidates: list[Candidate]) -> bool:
    """Whether its own threads take each other's cores."""
    return any(each.id == thread_oversubscription.ID for each in candidates)


class _Weighed:
    """Candidates as findings: with their gains, those that matter, the largest first."""

    def __init__(
        self,
        steps: Steps,
        process: Process,
        candidates: list[Candidate],
        every: bool,
        busy: str | None = None,
        measured: Sequence[MeasuredGain] = (),
        has_steps: bool = True,
    ) -> None:
        """`busy`: what to say about a machine that was busy with other programs. `measured`: gains
        that need no prediction. `has_steps`: not, if all of a trace is taken as one."""
        self._has_steps = has_steps
        self._busy = busy
        self._measured = measured
        self._steps = steps
        self._process = process
        pairs = [(self._finding(each), each) for each in candidates]
        pairs = [
            (finding, each)
            for finding, each in pairs
            if every
            or each.is_always_reported
            or finding.measured
            or finding.speedup.expected >= LEAST_GAIN
        ]
        pairs.sort(key=lambda pair: (-_weight(*pair), bool(pair[1].same_time_as), pair[0].id))
        self.findings = self._with_the_rest(pairs)
        self.verdict = self._verdict(pairs)

    def _finding(self, candidate: Candidate) -> Finding:
        location = _named(candidate.location)
        tried = measured_gain(self._measured, candidate.id, location)
        faster = as_speedup(tried) if tried else speedup(self._steps, candidate.saving)
        return Finding(
            id=candidate.id,
            severity=_severity(faster, candidate),
            title=candidate.title,
            share=candidate.share,
            evidence=candidate.evidence,
            confidence=how_sure(tried) if tried else self._confidence(candidate),
            location=location,
            process=candidate.process or self._process,
            speedup=faster,
            fix=candidate.fix,
            patch=candidate.patch,
            trial=candidate.trial,
            library=candidate.library,
            source=candidate.source,
            gain=in_words(tried) if tried else gain(faster),
            measured=tried is not None,
        )

    def _confidence(self, candidate: Candidate) -> str:
        if not self._has_steps:
            return f"low: {NO_STEPS}"
        count = candidate.steps_behind or len(self._steps.duration_ns)
        if count == 1:
            return "low: only one step was measured; a longer run would say more"
        spread = float(np.std(self._steps.duration_ns)) / max(1.0, self._steps.mean_ns)
        basis = f"{counted(count, 'measured step')}, varying by {percent(spread)}"
        doubts = [each for each in (self._busy, candidate.doubt) if each]
        basis = "; ".join([basis, *doubts])
        if count < _FEW_STEPS:
            return f"low: only {basis}; a longer run would say more"
        return f"{'medium' if spread > _UNEVEN or doubts else 'high'}: {basis}"

    def _with_the_rest(self, pairs: list[tuple[Finding, Candidate]]) -> list[Finding]:
        """What each still gains after those before it: they share the same step."""
        before: set[str] = set()
        again = []
        for _, each in pairs:
            again.append(each.same_time_as in before)
            before.add(each.id)
        nothing = Saving.nothing()
        savings = [
            nothing if is_again else each.saving
            for (_, each), is_again in zip(pairs, again, strict=True)
        ]
        gains = one_after_another(self._steps, savings)
        return [
            msgspec.structs.replace(finding, then=_then(number, more, each, is_again=is_again))
            for number, ((finding, each), more, is_again) in enumerate(
                zip(pairs, gains, again, strict=True)
            )
        ]

    def _verdict(self, pairs: list[tuple[Finding, Candidate]]) -> str:
        if not pairs and not self._has_steps:
            return (
                "Nothing stands out: no single cause costs more than 3 % of the "
                f"{ms(self._steps.mean_ns)} that were traced. But {NO_STEPS}."
            )
        if not pairs:
            return (
                "Nothing stands out: no single cause takes more than 3 % of step time (mean step "
                f"{ms(self._steps.mean_ns)}, {len(self._steps.duration_ns):,} steps)."
                + (f" But {self._busy}." if self._busy else "")
            )
        first, candidate = pairs[0]
        if not first.share:
            return f"The script {candidate.verdict}."
        is_faster = first.gain and first.speedup.expected > 1
        faster = f" Fixing it: {fixed(first)}." if is_faster else ""
        share = f"{percent(min(1.0, first.share))} of {goes_on(candidate.of)}"
        return f"{share} {candidate.verdict}.{faster}"


def _then(number: int, more: float | None, candidate: Candidate, *, is_again: bool) -> str | None:
    if is_again:
        return f"the same time as {candidate.same_time_as}: fix one of the two"
    before = "the first fix" if number == 1 else f"the first {number} fixes"
    return f"after {before}: another {times(more)}" if number and more and more > 1 else None


def limited_to_the_same_time(candidates: list[Candidate]) -> list[Candidate]:
    """A finding about the same time as another gains no more than the easier fix of that one."""
    saved = {each.id: each.saving.expected for each in candidates}
    return [
        dataclasses.replace(each, saving=each.saving.limited_to(saved[each.same_time_as]))
        if each.same_time_as in saved
        else each
        for each in candidates
    ]


def _named(location: Location | None) -> Location | None:
    """A comprehension is part of its function."""
    if location is None or location.function is None:
        return location
    name = location.function
    for ending in COMPREHENSIONS:
        name = name.removesuffix(f".<locals>.{ending}")
    return msgspec.structs.replace(location, function=name)


def _severity(faster: Speedup, candidate: Candidate) -> Severity:
    if faster.expected >= _HIGH or candidate.ends_job == "within a day":
        return "high"
    return "medium" if faster.expected >= _MEDIUM or candidate.is_always_reported else "low"


def _weight(finding: Finding, candidate: Candidate) -> float:
    """The gain. What ends the job is worth the least gain of its severity: a few per cent of speed
    are no use to a job that does not get to its end."""
    ends = {None: 1.0, "later": _MEDIUM, "within a day": _HIGH}[candidate.ends_job]
    return max(finding.speedup.expected, ends)


def _outliers(case: Case) -> list[SlowStep]:
    try:
        return slow_steps(case)
    except Exception:  # extra information must not cost the findings
        return []
