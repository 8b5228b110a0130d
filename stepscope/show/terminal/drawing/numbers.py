"""How numbers are written in every view: three significant digits, and always a unit."""

from typing import Final

from stepscope.model import durations, sizes
from stepscope.model.durations import digits as digits

NOTHING: Final = "-"
TIME_UNITS_NS: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def duration(ns: float | None) -> str:
    return NOTHING if ns is None else durations.duration(ns)


def padded_duration(ns: float | None) -> str:
    """A duration for right alignment: `s` is as wide as `ms`, so digits line up."""
    words = duration(ns)
    return words + " " if words.endswith(" s") else words


def milliseconds(ms: float | None) -> str:
    return NOTHING if ms is None else duration(ms * 1e6)


def duration_range(low_ns: float, high_ns: float) -> str:
    """`20.1–24.8 ms`; with both units where they differ."""
    low, high = duration(low_ns), duration(high_ns)
    number, _, unit = low.rpartition(" ")
    is_one_unit = high.split()[1:] == [unit]
    return f"{number}–{high}" if is_one_unit else f"{low}–{high}"


def percent(share: float | None) -> str:
    """`92.1 %`, `−5.0 %`; what rounds to zero but is not: `<0.1 %`."""
    if share is None:
        return NOTHING
    if 0 < abs(share) < 0.0005:
        return "<0.1 %"
    if share < 0:
        return f"−{percent(-share)}"
    return f"{100 * share:.1f} %"


def size(size_bytes: float | None) -> str:
    return NOTHING if size_bytes is None else sizes.size(size_bytes)


def padded_size(size_bytes: float | None) -> str:
    """A size for right alignment: `B` is as wide as `MiB`."""
    words = size(size_bytes)
    return words + "  " if words.endswith(" B") else words


def times(ratio: float) -> str:
    """`2.31×`."""
    return f"{digits(ratio)}×"


def count(number: float | None) -> str:
    """`60,000`."""
    return NOTHING if number is None else f"{number:,.0f}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 process`, `3 processes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
