"""What a finding predicts once other fixes are kept: by then the step is another one.

1. The last run with all that was kept is judged again. Its operators were not recorded.
2. Where a finding needs them, what it blames is taken off the step as it is by then: findings blame
   each millisecond once.
"""

from typing import Final

from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model import Location
from stepscope.model.findings import Finding, FindingsAnswer, Speedup

_LEAST_LEFT: Final = 0.02  # of the step as it was: no prediction is as good as that


class Predictions:
    def __init__(self) -> None:
        self._judged: dict[str, FindingsAnswer] = {}

    def of(self, finding: Finding, kept_run: str | None, gained: float) -> Speedup | None:
        """`kept_run`: with all that was kept so far, which made the step `gained` times as fast.
        None: what the finding blames is gone."""
        if kept_run is None:
            return finding.speedup
        if kept_run not in self._judged:
            self._judged[kept_run] = findings(load(kept_run), every=True)
        answer = self._judged[kept_run]
        if any(each.id == finding.id for each in answer.not_judged):
            return on_top(finding.speedup, gained)
        same = (each for each in answer.findings if _is_same(each, finding))
        return next((each.speedup for each in same), None)


def _is_same(one: Finding, other: Finding) -> bool:
    return one.id == other.id and _function(one.location) == _function(other.location)


def _function(location: Location | None) -> tuple[str, str | None] | None:
    """Which of its lines has most of the time may be another one in each run."""
    return (location.file, location.function) if location else None


def on_top(alone: Speedup, gained: float) -> Speedup:
    """What a fix takes off the step, off one that is `gained` times as fast already. An end that
    takes all that is left of it is open. Where even the other end does, both save the same time,
    and the fix's own figure is the best known."""
    ends = [alone.low, alone.expected, alone.high]
    low, expected, high = (_left(each, gained) for each in ends)
    if low < _LEAST_LEFT:
        return alone
    return Speedup(
        expected=1 / gained / max(_LEAST_LEFT, expected),
        low=1 / gained / low,
        high=1 / gained / high if high >= _LEAST_LEFT else None,
    )


def _left(speedup: float | None, gained: float) -> float:
    """Of the step as it was, 0 if nobody knows."""
    return 0.0 if speedup is None else 1 / gained - (1 - 1 / speedup)
