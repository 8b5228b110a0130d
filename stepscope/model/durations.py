"""How a time is written, in every text: three significant digits and the unit that fits."""


def duration(ns: float) -> str:
    """`412 ns`, `61.2 ms`, `38.9 s`, `2 min 03 s`, `5 h 04 min`."""
    if ns < 0:
        return "−" + duration(-ns)
    if ns >= 119.95e9:
        return _minutes(round(ns / 1e9))
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= 0.9995 * factor:
            return f"{digits(ns / factor)} {unit}"
    return f"{ns:.0f} ns"


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
