"""The measure: both sides run next to each other, in rounds, until the answer is clear.

The script against itself comes first: how much its ratio differs from 1 is the noise that a gain
must stand out from. Each round begins with the other side than the one before, so that what drifts
(the clock rate, a cache that fills) helps neither.
"""

import os
import shutil
from collections.abc import Callable
from typing import Final

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.compare.statistics.paired_rounds import is_clear, rounds
from stepscope.compare.statistics.speedup import Estimate
from stepscope.launch.options import RecordOptions
from stepscope.trial.ladder import Stopped
from stepscope.trial.one_run import Applied, OneRun, Program
from stepscope.trial.state import Budget, Comparison, Round, SavedFix, State

CONTROL_ROUNDS: Final = 3
FEWEST_ROUNDS: Final = 2
_PATIENCE: Final = 4.0  # times the baseline's duration
_PATIENCE_S: Final = 60.0  # and for what only the first steps need, a compiler


class _NotMeasured(Exception):
    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Rounds:
    def __init__(
        self, program: Program, state: State, options: RecordOptions, budget: Budget
    ) -> None:
        assert state.baseline is not None
        self._program = program
        self._state = state
        self._options = options
        self._budget = budget
        self._run_s = state.baseline.seconds
        self.on_round: Callable[[str, int, int], object] = lambda what, number, most: None

    def control(self) -> list[float]:
        """Ratios of the script to itself."""
        found = self._state.comparison([], [])
        while len(found.rounds) < CONTROL_ROUNDS:
            self._next_round(found, "control", CONTROL_ROUNDS)
        return [each.before_ms / each.after_ms for each in found.rounds]

    def compare(self, before: list[SavedFix], after: list[SavedFix], what: str) -> Comparison:
        """As many rounds as it takes, or the most that were asked for."""
        found = self._state.comparison(before, after)
        noise = self.control()
        while found.status is None and not self._is_enough(found, noise):
            try:
                self._next_round(found, what, self._state.wanted.rounds)
            except _NotMeasured as trouble:
                found.status, found.reason = trouble.status, str(trouble)
                self._state.save()
        return found

    def _is_enough(self, found: Comparison, noise: list[float]) -> bool:
        count = len(found.rounds)
        if count >= self._state.wanted.rounds:
            return True
        return count >= FEWEST_ROUNDS and is_clear(of_rounds(found, noise))

    def _next_round(self, found: Comparison, what: str, most: int) -> None:
        number = len(found.rounds) + 1
        if 2 * self._run_s > self._budget.left_s:
            raise Stopped(f"the budget of {self._budget.seconds / 60:.0f} minutes is used up")
        self.on_round(what, number, most)
        name = f"{len(self._state.comparisons):02d}-{what}-{number}"
        sides = {"after": found.after, "before": found.before}
        order = ("after", "before") if number % 2 else ("before", "after")
        measured = {side: self._step_of(sides[side], f"{name}-{side}") for side in order}
        (before_ms, before_run), (after_ms, after_run) = measured["before"], measured["after"]
        round_ = Round(
            before_ms=before_ms, after_ms=after_ms, before_run=before_run, after_run=after_run
        )
        if found.rounds:  # the first round's runs are kept for their losses, and to look at
            for run in (before_run, after_run):
                shutil.rmtree(os.path.dirname(run), ignore_errors=True)
        found.rounds.append(round_)
        self._state.save()

    def _step_of(self, fixes: list[SavedFix], name: str) -> tuple[float, str]:
        parent = os.path.join(self._state.folder, name)
        shutil.rmtree(parent, ignore_errors=True)  # of a round that was interrupted
        run = self._program.run(
            parent,
            self._options,
            [Applied(each.name, each.settings) for each in fixes],
            limit_s=_PATIENCE * self._run_s + _PATIENCE_S,
        )
        self._state.runs += 1
        self._state.seconds += run.seconds
        _require_well(run, len(fixes))
        return _mean_step_ms(run), run.folder


def of_rounds(found: Comparison, noise: list[float]) -> Estimate:
    before = [each.before_ms for each in found.rounds]
    return rounds(before, [each.after_ms for each in found.rounds], noise)


def _require_well(run: OneRun, fixes: int) -> None:
    """The last fix is the one on trial."""
    said = {each.outcome: each.what for each in run.said if each.number == fixes - 1}
    if "failed" in said:
        raise _NotMeasured("failed", f"it could not be applied: {said['failed']}")
    if "refused" in said:
        raise _NotMeasured("skipped", said["refused"])
    if run.trouble is not None:
        raise _NotMeasured("failed", run.trouble)
    if fixes and "applied" not in said:
        raise _NotMeasured("skipped", "never reached: the script did not use what it would change")


def _mean_step_ms(run: OneRun) -> float:
    answer = steps(load(run.folder))
    if answer.step_ms is None:
        raise _NotMeasured("failed", answer.reason or "no steps were found")
    return answer.step_ms.mean
