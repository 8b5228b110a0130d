"""The baseline: the script as it is, recorded once with its operators, and what was found in it."""

import os
import shutil
from typing import Final, NamedTuple

from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.advise.gain.precision import measured_ratio
from stepscope.analyze.answers.files import files
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import Run, load
from stepscope.errors import StepscopeError
from stepscope.launch.options import RecordOptions
from stepscope.launch.run_folder import shown
from stepscope.launch.supervisor import add_to_ending
from stepscope.model import StepsAnswer
from stepscope.model.trial import TrialBaseline
from stepscope.trial.fixes.subject import Subject
from stepscope.trial.mean_step import seconds_in_steps
from stepscope.trial.one_run import OneRun, Program
from stepscope.trial.state import Budget, SavedBaseline, State

STEPS: Final = 60  # enough for findings to be sure of
# What is done now and then, a checkpoint or an evaluation, is seen only if the steps go on for a
# while: so long, or this part of the time there is.
_LOOK_FOR_S: Final = 10.0
_LOOK_FOR: Final = 0.05
# What a run should measure: less is at the mercy of a moment, more is waiting.
_LEAST_MS: Final = 3_000.0
_MOST_MS: Final = 15_000.0
_FEWEST_STEPS: Final = 25  # with the warm-up
_MOST_STEPS: Final = 1_000
_MOST_NAMED: Final = 5  # files
_OF_THE_SYSTEM: Final = ("/dev/", "/proc/", "/sys/")


class Baseline(NamedTuple):
    subject: Subject
    steps: StepsAnswer
    run: str

    @property
    def answer(self) -> TrialBaseline:
        spread, rate = self.steps.step_ms, self.steps.rate
        assert spread is not None
        assert rate is not None
        return TrialBaseline(
            step_ms=spread.mean,
            per_s=rate.per_s,
            samples_per_s=rate.samples_per_s,
            steps=self.steps.steps,
            verdict=self.subject.advice.verdict,
            run=shown(self.run),
        )

    def steps_to_measure(self, asked: int | None) -> int:
        """Of each run: more where they are short, fewer where they are long."""
        if asked is not None:
            return asked
        step_ms = max(self.answer.step_ms, 1e-3)
        most = min(_MOST_STEPS, max(STEPS, int(_LEAST_MS / step_ms)))
        return max(_FEWEST_STEPS, min(most, int(_MOST_MS / step_ms)))

    def run_s(self, steps: int, baseline_s: float) -> float:
        """How long a run of that many steps takes."""
        return max(1.0, baseline_s + (steps - self.steps.steps) * self.answer.step_ms / 1e3)


def record(program: Program, state: State, budget: Budget) -> SavedBaseline:
    parent = os.path.join(state.folder, "baseline")
    shutil.rmtree(parent, ignore_errors=True)  # of a trial that was interrupted
    options = RecordOptions(
        steps=state.wanted.steps or STEPS,
        steps_for_s=0.0 if state.wanted.steps else min(_LOOK_FOR_S, _LOOK_FOR * budget.left_s),
        losses=True,
        packages=program.command.packages,
    )
    limit_s = max(1.0, budget.left_s)
    run = program.run(parent, options, limit_s=limit_s)
    state.runs += 1
    state.seconds += run.seconds
    if run.trouble is not None:
        raise _failed(run, is_late=run.seconds >= limit_s)
    state.steps_s += seconds_in_steps(load(run.folder))
    add_to_ending(run.folder, float64_ratio=measured_ratio())
    loaded = [each.what for each in run.reports if each.outcome == "loaded"]
    return SavedBaseline(run=run.folder, seconds=run.seconds, loaded=loaded)


def judged(saved: SavedBaseline) -> Baseline:
    """Its findings, and what fixes may ask about it."""
    run = load(saved.run)
    answer = steps(run)
    if answer.step_ms is None or run.main is None:
        raise StepscopeError(
            f"Nothing can be tried: {answer.reason} Its run is in '{shown(saved.run)}'."
        )
    case = Case(run, run.main)
    subject = Subject(
        case, findings(run, predicted=True), frozenset(saved.loaded), case.machine.cores
    )
    return Baseline(subject, answer, saved.run)


def written_elsewhere(run: Run, program: Program) -> list[str]:
    """Files outside the copy that the script wrote, and will write in every run."""
    rows = (row for row in files(run).files if row.writing)
    paths = {os.path.join(run.cwd or os.sep, row.path) for row in rows}
    return sorted(path for path in paths if _is_elsewhere(path, program))[:_MOST_NAMED]


def _is_elsewhere(path: str, program: Program) -> bool:
    is_file = os.path.isfile(path) and not path.startswith(_OF_THE_SYSTEM)
    return is_file and not program.place.is_inside(path)


def _failed(run: OneRun, *, is_late: bool) -> StepscopeError:
    advice = "; --budget gives it more time, --steps N asks for fewer steps" if is_late else ""
    said = "".join(f"\n  | {line}" for line in run.last_lines)
    return StepscopeError(
        f"The script does not get through unchanged: {run.trouble}{advice}. Nothing was tried."
        f"{' It said last:' if said else ''}{said}"
    )
