"""How sizes are written in every view: three significant digits, in units of 1024."""

from typing import Final

from stepscope.model.durations import digits

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(size_bytes: float) -> str:
    """`512 B`, `1.50 MiB`, `12.3 GiB`."""
    if size_bytes < 0:
        return "−" + size(-size_bytes)
    for unit in _UNITS:
        if size_bytes < 999.5 or unit == _UNITS[-1]:
            break
        size_bytes /= 1024
    return f"{size_bytes:.0f} B" if unit == "B" else f"{digits(size_bytes)} {unit}"
