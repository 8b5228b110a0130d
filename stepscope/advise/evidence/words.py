"""How findings write numbers and places."""

from stepscope.model import Location
from stepscope.model.durations import duration
from stepscope.model.findings import Finding, Speedup
from stepscope.model.shares import percent as percent


def times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def gain(speedup: Speedup) -> str | None:
    """What is expected; where the range has no upper end, what it gains at least."""
    if speedup.expected <= 1:
        return None
    return times(speedup.expected) if speedup.high is not None else f"at least {_least(speedup)}×"


def fixed(finding: Finding) -> str:
    """`about 20× faster (6× or more)`, `about 3.45× faster (3.14–3.77×)`, or what was measured."""
    faster = finding.speedup
    if finding.measured:
        return f"{finding.gain} faster, measured"
    if faster.high is None:
        return f"about {times(faster.expected)} faster ({_least(faster)}× or more)"
    return f"about {times(faster.expected)} faster ({faster.low:.2f}–{faster.high:.2f}×)"


def _least(speedup: Speedup) -> str:
    return f"{speedup.low:.2g}" if speedup.low < 10 else f"{speedup.low:.0f}"


def ms(ns: float) -> str:
    """`61.2 ms`, and from a second on `2.08 s`."""
    return duration(ns)


def span(seconds: float) -> str:
    """`40 s`, `12 min`, `5 h`, `3 days`: how long something lasts, roughly."""
    for unit, lasts in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * lasts:
            return f"{seconds / lasts:.0f} {unit}"
    return f"{seconds:.0f} s"


def at(location: Location | None) -> str:
    """` in get_dataset (train.py:31)`, or nothing."""
    if location is None:
        return ""
    function = location.function or ""
    place = f"{location.file}:{location.line}"
    if not function or function == "<module>":
        return f" at {place}"
    return f" in {function.replace('.<locals>', '')} ({place})"


def counted(number: float, noun: str) -> str:
    value = f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
    return f"{value} {noun}" if value == "1" else f"{value} {noun}s"
