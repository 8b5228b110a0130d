"""How numbers are written in every view: three significant digits, and always a unit."""

from typing import Final

NOTHING: Final = "-"
TIME_UNITS_NS: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_SIZE_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def duration(ns: float | None) -> str:
    """`412 ns`, `61.2 ms`, `38.9 s`, `2 min 03 s`, `5 h 04 min`."""
    if ns is None:
        return NOTHING
    if ns < 0:
        return "-" + duration(-ns)
    if ns >= 119.95e9:
        return _minutes(round(ns / 1e9))
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= 0.9995 * factor:
            return f"{digits(ns / factor)} {unit}"
    return f"{ns:.0f} ns"


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


def _minutes(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    if minutes < 120:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min"


def digits(value: float) -> str:
    """Three significant digits without an exponent: `1.23`, `12.3`, `123`, `1,234`."""
    if value == 0:
        return "0"
    size = abs(value)
    decimals = 2 if size < 9.995 else 1 if size < 99.95 else 0
    if size < 0.9995:
        return f"{value:#.3g}" if size >= 1e-4 else f"{value:.1e}"
    return f"{value:,.{decimals}f}"


def percent(share: float | None) -> str:
    """`92.1 %`; what rounds to zero but is not: `<0.1 %`."""
    if share is None:
        return NOTHING
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{100 * share:.1f} %"


def size(size_bytes: float | None) -> str:
    """`512 B`, `1.50 MiB`, `12.3 GiB`."""
    if size_bytes is None:
        return NOTHING
    if size_bytes < 0:
        return "-" + size(-size_bytes)
    for unit in _SIZE_UNITS:
        if size_bytes < 999.5 or unit == _SIZE_UNITS[-1]:
            break
        size_bytes /= 1024
    return f"{size_bytes:.0f} B" if unit == "B" else f"{digits(size_bytes)} {unit}"


def padded_size(size_bytes: float | None) -> str:
    """A size for right alignment: `B` is as wide as `MiB`."""
    words = size(size_bytes)
    return words + "  " if words.endswith(" B") else words


def count(number: float | None) -> str:
    """`60,000`."""
    return NOTHING if number is None else f"{number:,.0f}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 process`, `3 processes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
