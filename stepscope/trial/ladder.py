"""The ladder: fixes tried one by one on top of those that helped.

1. A fix is kept if it is faster beyond doubt and its losses do what it promises.
2. One that gained nothing is tried once more when a later one was kept: what it saves may only now
   be what the step waits for. One that made it slower is not.
3. What cannot be tried, is not needed, fails or does not fit into the time is a rung too, with its
   reason.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from stepscope.model.findings import Finding, Speedup
from stepscope.model.trial import LossCheck, Rung, Status
from stepscope.trial.fixes.fix import Fix, Proposal
from stepscope.trial.state import SavedFix

T = TypeVar("T")


class Candidate(NamedTuple):
    """A fix that fits, for the finding that asked for it."""

    fix: Fix
    finding: Finding | None
    proposal: Proposal

    @property
    def as_applied(self) -> SavedFix:
        return SavedFix(name=self.fix.name, settings=dict(self.proposal.settings))


class Outcome(NamedTuple):
    """What became of a candidate: measured, or a status that says why not."""

    speedup: Speedup | None = None
    rounds: int = 0
    step_ms: float | None = None
    loss: LossCheck | None = None
    run: str | None = None
    status: Status | None = None
    reason: str | None = None


class Stopped(Exception):
    """No time is left."""


# What is kept, and what is kept with the candidate on top.
Measure = Callable[[list[SavedFix], Candidate], Outcome]
# What a finding predicts on top of what is kept: the last run with that, and what it gained.
Predict = Callable[[Finding, str | None, float], Speedup | None]

INTERRUPTED: Final = "interrupted"
NO_GAIN: Final = "no gain that stands out from the noise"
UNCLEAR: Final = "faster, but not beyond doubt: --rounds and --budget give it more runs"
_WORTH: Final = 1.1  # a gain that one would want to be sure about
_SLOWER: Final = "slower"
_CEILING: Final = "no fix for this can gain more; nothing to keep"
_NO_CEILING: Final = "what a fix for this could gain does not stand out from the noise"


class Ladder:
    def __init__(
        self,
        measure: Measure,
        see: Callable[[Rung], object] = lambda _: None,
        predict: Predict = lambda finding, kept_run, gained: finding.speedup,
    ) -> None:
        """`see` is called with each rung when it is decided."""
        self._measure = measure
        self._see = see
        self._predict = predict
        self.rungs: list[Rung] = []
        self.kept: list[Candidate] = []
        self.stopped: str | None = None
        self._again: list[tuple[Candidate, Rung]] = []  # gained nothing so far

    def climb(self, candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            self._note(candidate, self._left_out(candidate) or self._tried(candidate))
        for candidate, first in self._second_chances():
            again = self._tried(candidate)
            if self.stopped is not None:
                return
            self.rungs.remove(first)
            self._note(candidate, again)

    @property
    def applied(self) -> list[SavedFix]:
        return [each.as_applied for each in self.kept]

    def within_time(self, act: Callable[[], T]) -> T | None:
        """None if it was stopped, or is stopped meanwhile."""
        if self.stopped is not None:
            return None
        try:
            return act()
        except Stopped as reason:
            self.stopped = str(reason)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        return None

    def _left_out(self, candidate: Candidate) -> Rung | None:
        """A ceiling shows nothing new where a fix for the same gained what was predicted."""
        finding = candidate.finding
        if finding is None or not candidate.fix.is_ceiling:
            return None
        for rung in self.rungs:
            is_kept = rung.status == "kept" and rung.finding == finding.id
            if is_kept and (rung.speedup or 0.0) >= finding.speedup.low:
                described = self._described(candidate)
                reason = f"not needed: {rung.fix} gains what this could have shown"
                return msgspec.structs.replace(described, reason=reason)
        return None

    def _tried(self, candidate: Candidate) -> Rung:
        rung = self._described(candidate)
        outcome = self.within_time(lambda: self._measure(self.applied, candidate))
        if outcome is None:
            return msgspec.structs.replace(rung, reason=f"not tried: {self.stopped}")
        return _judged(rung, candidate, outcome)

    def _note(self, candidate: Candidate, rung: Rung) -> None:
        self.rungs.append(rung)
        if rung.status == "kept":
            self.kept.append(candidate)
        elif rung.status == "rejected" and rung.reason in (NO_GAIN, UNCLEAR):
            self._again.append((candidate, rung))
        self._see(rung)

    def _second_chances(self) -> list[tuple[Candidate, Rung]]:
        if self.stopped is not None:
            return []
        are_kept = [rung.status == "kept" for rung in self.rungs]
        return [each for each in self._again if any(are_kept[self.rungs.index(each[1]) :])]

    def _described(self, candidate: Candidate) -> Rung:
        finding = candidate.finding
        kept_run = next((each.run for each in reversed(self.rungs) if each.status == "kept"), None)
        return Rung(
            fix=candidate.fix.name,
            title=candidate.fix.title,
            finding=finding.id if finding else None,
            predicted=self._predict(finding, kept_run, self.gained) if finding else None,
            status="skipped",
            reason=None,
            what=candidate.proposal.words,
            patch=candidate.proposal.patch,
            location=finding.location if finding else None,
            is_ceiling=candidate.fix.is_ceiling,
        )

    @property
    def gained(self) -> float:
        """By all that was kept, each on top of the others."""
        gained = 1.0
        for rung in self.rungs:
            gained *= (rung.speedup or 1.0) if rung.status == "kept" else 1.0
        return gained


def _judged(rung: Rung, candidate: Candidate, outcome: Outcome) -> Rung:
    status, reason = _verdict(candidate, outcome)
    speedup = outcome.speedup
    return msgspec.structs.replace(
        rung,
        status=status,
        reason=reason,
        speedup=speedup.expected if speedup else None,
        low=speedup.low if speedup else None,
        high=speedup.high if speedup else None,
        rounds=outcome.rounds,
        step_ms=outcome.step_ms,
        loss=outcome.loss,
        run=outcome.run,
    )


def _verdict(candidate: Candidate, outcome: Outcome) -> tuple[Status, str | None]:
    speedup = outcome.speedup
    if speedup is None:
        return outcome.status or "failed", outcome.reason
    if candidate.fix.is_ceiling:
        return "rejected", _CEILING if speedup.low > 1 else _NO_CEILING
    if speedup.low <= 1:
        return "rejected", _in_doubt(speedup)
    if outcome.loss is not None and not outcome.loss.as_promised:
        return "rejected", f"it changes the training: {outcome.loss.words}"
    if candidate.proposal.why_not_kept is not None:
        return "rejected", candidate.proposal.why_not_kept
    return "kept", None


def _in_doubt(speedup: Speedup) -> str:
    if speedup.high is not None and speedup.high < 1:
        return _SLOWER
    return UNCLEAR if speedup.expected >= _WORTH else NO_GAIN
