"""Gains that `stepscope try` has measured: where there is one, it stands in for the prediction."""

from collections.abc import Sequence

from stepscope.advise.evidence.words import counted, times
from stepscope.model import Location
from stepscope.model.findings import Speedup
from stepscope.store.records import MeasuredGain


def measured_gain(
    gains: Sequence[MeasuredGain], finding: str, location: Location | None
) -> MeasuredGain | None:
    """Of the fix that helps most among those tried for this finding. Where none was kept, what the
    best possible one could gain says more than those that failed."""
    place = (location.file, location.line) if location else (None, None)
    found = [each for each in gains if (each.finding, each.file, each.line) == (finding, *place)]
    return max(found, key=_how_good, default=None)


def _how_good(gain: MeasuredGain) -> tuple[bool, bool, float]:
    is_kept = gain.reason is None and not gain.is_ceiling
    return is_kept, gain.is_ceiling, gain.speedup


def as_speedup(gain: MeasuredGain) -> Speedup:
    return Speedup(expected=gain.speedup, low=gain.low, high=gain.high)


def in_words(gain: MeasuredGain) -> str:
    return f"at most {times(gain.speedup)}" if gain.is_ceiling else times(gain.speedup)


def how_sure(gain: MeasuredGain) -> str:
    above = f" on top of {' and '.join(gain.on_top_of)}" if gain.on_top_of else ""
    but = f", and not kept: {gain.reason}" if gain.reason else ""
    rounds = counted(gain.rounds, "round")
    return f"high: measured with {gain.fix}{above}, in {rounds} of runs{but}"
