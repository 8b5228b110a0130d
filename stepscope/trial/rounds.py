"""The measure: both sides run next to each other, in rounds, until the answer is clear.

The script against itself comes first: how much its ratio differs from 1 is the noise that a gain
must stand out from. Each round begins with the other side than the one before, so that what drifts
(the clock rate, a cache that fills) helps neither. Times are without what other programs took of
them (`mean_step.py`).
"""

import os
import shutil
from collections.abc import Callable
from typing import Final, NamedTuple

from stepscope.compare.statistics.paired_rounds import is_clear, rounds
from stepscope.compare.statistics.speedup import Estimate
from stepscope.errors import StepscopeError
from stepscope.launch.options import RecordOptions
from stepscope.launch.run_folder import safe_name
from stepscope.model.trial import Status
from stepscope.trial.fixes.fix import CHANGES_BATCH
from stepscope.trial.ladder import Stopped
from stepscope.trial.mean_step import NoSteps, measured_steps, samples_in_step
from stepscope.trial.one_run import Applied, OneRun, Program
from stepscope.trial.state import Budget, Comparison, Round, SavedFix, State

CONTROL: Final = "control"
_CONTROL_ROUNDS: Final = 2
_FOR_THE_CONTROL: Final = 1 / 3  # of the rounds that fit into the time, at most
_FEWEST_ROUNDS: Final = 2
_NARROW: Final = 1.25  # high to low: one round is enough if it says as much as that
_PROMISING: Final = 1.2  # in its first round: worth a second one where others wait for their time
_WORSE: Final = 0.97  # what is no faster in any of its first rounds will not become a gain
_PATIENCE: Final = 4.0  # times the baseline's duration
_PATIENCE_S: Final = 60.0  # with a core, and for what only the first steps need: a compiler
_LEAST_CORE: Final = 0.1  # a busier machine gets no more patience: what hangs must end


OnRound = Callable[[str, int, int, float], object]  # what, which of how many, seconds left


class Runs(NamedTuple):
    """What the baseline says about runs to come."""

    seconds: float  # how long each will take
    anchor: str | None  # what their steps are
    lost: float = 0.0  # share of the time that other programs take


class _NotMeasured(Exception):
    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Rounds:
    def __init__(
        self, program: Program, state: State, options: RecordOptions, runs: Runs, budget: Budget
    ) -> None:
        self._program = program
        self._state = state
        self._options = options
        self._budget = budget
        self._anchor = runs.anchor
        self._run_s = runs.seconds
        self._patience_s = _PATIENCE_S / max(_LEAST_CORE, 1 - runs.lost)
        self._round_s = 2 * runs.seconds  # the next one: with a fix, a run may be much shorter
        self._control_rounds = control_rounds(runs.seconds, budget)
        self._others = 0  # fixes that are still to be compared
        self.on_round: OnRound = lambda what, number, most, left_s: None

    def control(self) -> list[float]:
        """Ratios of the script to itself."""
        found = self._state.comparison([], [])
        while len(found.rounds) < self._control_rounds:
            try:
                self._next_round(found, CONTROL, self._control_rounds)
            except _NotMeasured as trouble:
                raise StepscopeError(
                    f"The script fails when it runs again, unchanged: {trouble}. With --in-place, "
                    "files of the run before are in its way."
                ) from trouble
        return [each.before_ms / each.after_ms for each in found.rounds]

    def compare(
        self, before: list[SavedFix], after: list[SavedFix], what: str, others: int = 0
    ) -> Comparison:
        """As many rounds as it takes, or the most that were asked for. `others`: that are still to
        be compared; each gets its part of the time."""
        self._others = others
        self._round_s = 2 * self._run_s
        noise = self.control()
        found = self._state.comparison(before, after)
        for_others_s = self._budget.left_s * others / (others + 1)
        while found.status is None and not self._is_enough(found, noise, for_others_s):
            try:
                self._next_round(found, what, self._state.wanted.rounds)
            except _NotMeasured as trouble:
                found.status, found.reason = trouble.status, str(trouble)
                self._state.save()
        return found

    def _is_enough(self, found: Comparison, noise: list[float], for_others_s: float) -> bool:
        count, left_s = len(found.rounds), self._budget.left_s - self._round_s
        if not count:
            return False
        if count >= self._state.wanted.rounds or left_s < 0 or _is_settled(found, noise):
            return True
        is_promising = of_rounds(found, noise).expected >= _PROMISING
        return left_s < for_others_s and (count >= _FEWEST_ROUNDS or not is_promising)

    def _next_round(self, found: Comparison, what: str, most: int) -> None:
        """The fix goes first in the first round: if it fails, the other run is saved."""
        number = len(found.rounds) + 1
        if self._round_s > self._budget.left_s:
            raise Stopped(f"the budget of {self._budget.seconds / 60:g} minutes is used up")
        self.on_round(what, number, most, self._left_s(found, most + 1 - number))
        place = f"{self._state.comparisons.index(found):02d}-{safe_name(what)}-{number}"
        if number % 2:
            after = self._run(found.after, f"{place}-after")
            before = self._run(found.before, f"{place}-before")
        else:
            before = self._run(found.before, f"{place}-before")
            after = self._run(found.after, f"{place}-after")
        self._note(found, before, after)
        self._round_s = before.seconds + after.seconds

    def _left_s(self, found: Comparison, rounds_left: int) -> float:
        """At most, for all that is to come."""
        more = self._others + (found.before == found.after)  # after the control, the fix itself
        rounds_left += more * self._state.wanted.rounds
        return min(self._budget.left_s, 2 * self._run_s * rounds_left)

    def _note(self, found: Comparison, before: "_Side", after: "_Side") -> None:
        lost = _lost(before, after)
        after_ms = after.step_ms * self._as_many_samples(found, before, after)
        if found.rounds:  # the first round's runs are kept for their losses, and to look at
            for side in (before, after):
                shutil.rmtree(os.path.dirname(side.run), ignore_errors=True)
        found.rounds.append(
            Round(
                before_ms=before.step_ms * (1 - lost[0]),
                after_ms=after_ms * (1 - lost[1]),
                before_run=before.run,
                after_run=after.run,
                lost=max(lost),
            )
        )
        self._state.save()

    def _as_many_samples(self, found: Comparison, before: "_Side", after: "_Side") -> float:
        """Where a fix makes other batches, a step counts as if it had as many samples as before."""
        if not any(each.settings.get(CHANGES_BATCH) for each in found.after):
            return 1.0
        one, other = samples_in_step(before.run), samples_in_step(after.run)
        if one is None or other is None:
            raise _NotMeasured("failed", "the samples in a step are not known with it")
        return one / other

    def _run(self, applied: list[SavedFix], name: str) -> "_Side":
        parent = os.path.join(self._state.folder, name)
        shutil.rmtree(parent, ignore_errors=True)  # of a round that was interrupted
        run = self._program.run(
            parent,
            self._options,
            [Applied(each.name, each.settings) for each in applied],
            limit_s=_PATIENCE * self._run_s + self._patience_s,
        )
        self._state.runs += 1
        self._state.seconds += run.seconds
        _require_well(run, len(applied))
        if not applied:
            self._run_s = run.seconds
        try:
            measured = measured_steps(run.folder, self._anchor)
            self._state.steps_s += measured.seconds
            return _Side(measured.mean_ms, measured.lost, run.folder, run.seconds)
        except NoSteps as reason:
            raise _NotMeasured("failed", str(reason)) from reason


def control_rounds(run_s: float, budget: Budget) -> int:
    """Fewer where they would use up the time: then a gain must be larger to stand out. None where
    only two rounds fit: those of a fix say more."""
    fitting = int(_FOR_THE_CONTROL * budget.left_s / (2 * run_s))
    return min(_CONTROL_ROUNDS, fitting)


def _is_settled(found: Comparison, noise: list[float]) -> bool:
    """More rounds would not change what becomes of the fix, nor say much more about its gain."""
    estimate = of_rounds(found, noise)
    if len(found.rounds) < _FEWEST_ROUNDS:
        is_narrow = estimate.high / estimate.low <= _NARROW
        return is_clear(estimate) and (is_narrow or estimate.high < 1)
    is_never_faster = all(each.after_ms >= each.before_ms for each in found.rounds)
    return is_clear(estimate) or (is_never_faster and estimate.expected < _WORSE)


class _Side(NamedTuple):
    step_ms: float
    lost: float | None  # share of it that other programs took; None: not known
    run: str
    seconds: float


def _lost(before: _Side, after: _Side) -> tuple[float, float]:
    """Known of one side only, it would be a difference between them."""
    if before.lost is None or after.lost is None:
        return 0.0, 0.0
    return before.lost, after.lost


def of_rounds(found: Comparison, noise: list[float]) -> Estimate:
    before = [each.before_ms for each in found.rounds]
    return rounds(before, [each.after_ms for each in found.rounds], noise)


def _require_well(run: OneRun, count: int) -> None:
    """The last fix is the one on trial."""
    outcomes = {each.outcome: each.what for each in run.reports if each.number == count - 1}
    if "failed" in outcomes:
        raise _NotMeasured("failed", f"it could not be applied: {outcomes['failed']}")
    if "refused" in outcomes:
        raise _NotMeasured("skipped", outcomes["refused"])
    if run.trouble is not None:
        raise _NotMeasured("failed", run.trouble)
    if count and "applied" not in outcomes:
        raise _NotMeasured("skipped", "never reached: the script did not use what it would change")
