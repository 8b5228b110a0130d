"""A trial from its beginning, or from where it was interrupted, to its answer."""

import os
from pathlib import Path
from statistics import geometric_mean
from typing import Final, Protocol
from zipfile import is_zipfile

import msgspec

from stepscope.advise.evidence.words import percent
from stepscope.analyze.steps.find_steps import loop_in
from stepscope.analyze.traces.sessions import is_named_like_one
from stepscope.errors import InputError
from stepscope.launch.command import Command, command_for
from stepscope.launch.console import is_installed_command
from stepscope.launch.options import RecordOptions
from stepscope.launch.run_folder import shown
from stepscope.model.findings import Speedup
from stepscope.model.trial import LossCheck, Noise, Rung, TrialAnswer, TrialBaseline
from stepscope.trial import baseline
from stepscope.trial.baseline import Baseline
from stepscope.trial.candidates import proposed, require_known
from stepscope.trial.copied_folder import CopiedFolders, InPlace, roots_for
from stepscope.trial.fixes.fix import Keeps
from stepscope.trial.ladder import Candidate, Ladder, Outcome
from stepscope.trial.loss_check import checked
from stepscope.trial.mean_step import measured_steps
from stepscope.trial.measured_gains import keep_gains
from stepscope.trial.one_run import Program
from stepscope.trial.predictions import Predictions
from stepscope.trial.rounds import CONTROL, Rounds, Runs, control_rounds, of_rounds
from stepscope.trial.state import Budget, Comparison, SavedFix, State, Wanted

_TOGETHER: Final = "together"
_LOST_MUCH: Final = 0.05  # of the time: a machine's own chores take less
# What is measured besides the fixes.
_WORDS: Final = {CONTROL: "the script against itself", _TOGETHER: "all that was kept"}


class Talk(Protocol):
    """What is said while it goes on."""

    def say(self, sentence: str) -> None: ...

    def round(self, what: str, number: int, most: int, left_s: float) -> object: ...

    def rung(self, rung: Rung) -> None: ...


def command_of(wanted: Wanted) -> Command:
    require_known(wanted.fixes)
    if wanted.words and not wanted.module:
        _require_script(wanted.words[0])
    return command_for(wanted.words, module=wanted.module)


def _require_script(target: str) -> None:
    """Python would run a trace in JSON, too, and nothing would happen."""
    if os.path.exists(target) and not os.path.isdir(target) and not os.path.isfile(target):
        raise InputError(f"'{target}' is no file: a trial has to run the script many times.")
    if os.path.isfile(target) and is_named_like_one(Path(target)) and not is_zipfile(target):
        raise InputError(
            f"'{target}' is no script, but looks like a trace: 'stepscope show {target} findings' "
            "says what is slow in it. To try fixes, give the script that it is of."
        )


class Session:
    def __init__(self, state: State, budget: Budget, talk: Talk) -> None:
        self._state = state
        self._budget = budget
        self._talk = talk
        self._program = _program(state)

    def run(self) -> TrialAnswer:
        try:
            return self._run()
        finally:
            self._program.place.remove()

    def _run(self) -> TrialAnswer:
        begun = self._baseline()
        found = proposed(begun.subject, self._state.wanted)
        candidates = [each for each in found if isinstance(each, Candidate)]
        skipped = [each for each in found if isinstance(each, Rung)]
        self._measure = _Measure(self._program, self._state, begun, self._budget, self._talk)
        ladder = Ladder(self._measure, self._talk.rung, Predictions().of)
        self._measure.count = self._measure.to_come = len(candidates)
        self._say_plan(len(candidates))
        ladder.climb(candidates)
        answer = self._answer(begun, ladder, skipped)
        keep_gains(begun.run, ladder.rungs)
        return answer

    def _baseline(self) -> Baseline:
        if self._state.baseline is None:
            self._talk.say(
                f"recording {_shown(self._state.wanted)} as it is. It will run many times: what "
                "it does outside its folder (uploads, messages, files elsewhere) happens each time."
            )
            self._state.baseline = baseline.record(self._program, self._state, self._budget)
            self._state.save()
        else:
            self._say_what_is_there()
        return baseline.judged(self._state.baseline)

    def _say_what_is_there(self) -> None:
        rounds = sum(len(each.rounds) for each in self._state.comparisons)
        measured = f" and {rounds} round{'s' if rounds > 1 else ''} are" if rounds else " is"
        self._talk.say(
            f"going on with {shown(self._state.folder)}: its recording of the script as it is"
            f"{measured} used again."
        )

    def _say_plan(self, fixes: int) -> None:
        if not fixes:
            return
        run_s, left_s = self._measure.run_s, self._budget.left_s
        most = 2 * (control_rounds(run_s, self._budget) + fixes * self._state.wanted.rounds)
        runs = f"at most {most} runs of about {run_s:.0f} s"
        fitting = int(left_s / run_s)
        if fitting < most:
            runs += f", of which {fitting} fit into the budget; they end when the answer is clear"
        else:
            runs += f", at most {max(1, round(most * run_s / 60))} min"
        self._talk.say(f"{fixes} fix{'es' if fixes > 1 else ''} to try: {runs}.")

    def _answer(self, begun: Baseline, ladder: Ladder, skipped: list[Rung]) -> TrialAnswer:
        together = self._together(ladder)
        noise = self._measure.noise
        return TrialAnswer(
            folder=shown(self._state.folder),
            baseline=self._as_it_is(begun),
            noise=Noise(low=min(noise), high=max(noise)) if noise else None,
            rungs=[*ladder.rungs, *skipped],
            together=together,
            runs=self._state.runs,
            seconds=self._state.seconds,
            stopped=ladder.stopped,
            notes=self._notes(begun),
            step_seconds=self._state.steps_s,
            # Where all of it was not measured together, each gain on top of the others.
            gained=together.expected if together else ladder.gained if ladder.kept else None,
        )

    def _as_it_is(self, begun: Baseline) -> TrialBaseline:
        """As it was in the rounds, beside the fixes: its recording was made at another time."""
        answer, measured_ms = begun.answer, self._state.unchanged_ms()
        if not measured_ms:
            return answer
        step_ms = geometric_mean(measured_ms)
        faster = answer.step_ms / step_ms
        samples = answer.samples_per_s
        return msgspec.structs.replace(
            answer,
            step_ms=step_ms,
            per_s=answer.per_s * faster,
            samples_per_s=samples * faster if samples else samples,
        )

    def _together(self, ladder: Ladder) -> Speedup | None:
        """All that was kept, against the script as it is."""
        if len(ladder.kept) < 2:
            return None
        return ladder.within_time(lambda: self._measure.together(ladder.applied))

    def _notes(self, begun: Baseline) -> list[str]:
        notes = []
        lost = self._state.most_lost()
        if lost >= _LOST_MUCH:
            notes.append(
                "The machine was busy: other programs took the core for up to "
                f"{percent(lost)} of the time. Step times and gains are without that."
            )
        written = baseline.written_elsewhere(begun.subject.case.run, self._program)
        if written and not self._state.wanted.in_place:
            notes.append(f"Written in every run, since it lies elsewhere: {', '.join(written)}.")
        return notes


class _Measure:
    """What the ladder asks: a candidate on top of what is kept."""

    def __init__(
        self, program: Program, state: State, begun: Baseline, budget: Budget, talk: Talk
    ) -> None:
        assert state.baseline is not None
        steps = begun.steps_to_measure(state.wanted.steps)
        options = RecordOptions(
            steps=steps,
            ops="off",
            losses=True,
            packages=program.command.packages,
            step_loop=loop_in(begun.steps.anchor or "") or "",
        )
        self._state = state
        self.run_s = begun.run_s(steps, state.baseline.seconds)
        anchor = begun.steps.anchor
        lost = measured_steps(begun.run, anchor).lost
        runs = Runs(self.run_s, anchor, lost or 0.0)
        self._rounds = Rounds(program, state, options, runs, budget)
        self._rounds.on_round = self._show
        self._talk = talk
        self.noise: list[float] = []
        self.count = 0  # candidates
        self.to_come = 0  # those that were not measured yet

    def __call__(self, kept: list[SavedFix], candidate: Candidate) -> Outcome:
        after = [*kept, candidate.as_applied]
        self.to_come = max(0, self.to_come - 1)
        found = self._compared(kept, after, candidate.fix.name)
        outcome = self._outcome(found)
        if outcome.speedup is None:
            return outcome
        keeps = candidate.proposal.keeps or candidate.fix.keeps
        return outcome._replace(loss=self._losses(found, keeps))

    def together(self, kept: list[SavedFix]) -> Speedup | None:
        return self._outcome(self._compared([], kept, _TOGETHER)).speedup

    def _show(self, what: str, number: int, most: int, left_s: float) -> None:
        fix = f"fix {self.count - self.to_come} of {self.count}, {what}"
        self._talk.round(_WORDS.get(what, fix), number, most, left_s)

    def _losses(self, found: Comparison, keeps: Keeps) -> LossCheck:
        first = found.rounds[0]
        others = [run for run in self._state.kept_runs(found.before) if run != first.before_run]
        return checked(first.before_run, first.after_run, others, keeps)

    def _compared(self, before: list[SavedFix], after: list[SavedFix], what: str) -> Comparison:
        self.noise = self._rounds.control()
        return self._rounds.compare(before, after, what, self.to_come)

    def _outcome(self, found: Comparison) -> Outcome:
        if found.status is not None or not found.rounds:
            return Outcome(status=found.status, reason=found.reason)
        estimate = of_rounds(found, self.noise)
        count = len(found.rounds)
        return Outcome(
            Speedup(expected=estimate.expected, low=estimate.low, high=estimate.high),
            count,
            geometric_mean([each.after_ms for each in found.rounds]),  # as the gain
            run=shown(found.rounds[0].after_run),
        )


def _program(state: State) -> Program:
    wanted = state.wanted
    command = command_of(wanted)
    typed = ["-m", *wanted.words] if wanted.module else list(wanted.words)
    script = command.script
    if wanted.in_place:
        return Program(command, typed, InPlace())
    is_users = script is not None and not is_installed_command(script)
    copies = CopiedFolders(
        roots_for(script if is_users else None), os.path.join(state.folder, "copy")
    )
    return Program(command, typed, copies)


def _shown(wanted: Wanted) -> str:
    return f"'{' '.join(wanted.words)}'"


def refuse_ranks(variable: str) -> InputError:
    return InputError(
        f"{variable} says that this is one rank of a launch: start 'stepscope try' outside of the "
        "launcher, with the launcher as the script ('stepscope try torchrun ...')."
    )
