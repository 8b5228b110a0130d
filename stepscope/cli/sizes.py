"""Values with units on the command line: 3%, 512MB, 500s, 2000steps. Callbacks for click."""

import re
from typing import Final

import click

from stepscope.launch.options import is_ops

_SECONDS: Final = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SMALLEST_BYTES: Final = 2**20  # one chunk of each file


def share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """`3%` or `0.03`."""
    text = value.strip()
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise click.BadParameter(f"'{value}' is not a share: write 3% or 0.03.")
    return number


def optional_share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    return None if value is None else share(ctx, param, value)


def size_bytes(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """`512MB`, `2G`, `1.5GiB`; a K is 1024."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
    if match is None:
        raise click.BadParameter(f"'{value}' is not a size: write 512MB or 2GB.")
    size = int(float(match[1]) * 1024 ** _POWERS[match[2]])
    if size < _SMALLEST_BYTES:
        raise click.BadParameter(f"'{value}' is too small: at least 1MB.")
    return size


def extent(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float | None, int | None]:
    """`500s`, `10min`, `2h` or `2000steps`, as (seconds, steps): one of them or neither."""
    if value is None:
        return None, None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", value.strip().lower())
    number, unit = (float(match[1]), match[2]) if match else (0.0, "")
    if unit in _SECONDS and number > 0:
        return number * _SECONDS[unit], None
    if unit in ("step", "steps") and number >= 1 and number == int(number):
        return None, int(number)
    raise click.BadParameter(f"'{value}' is not a limit: write 500s, 10min or 2000steps.")


def steps_of_operators(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """`10:20` (both included, the first step is 1), `all`, `off` or `auto`."""
    text = value.strip().lower()
    if not is_ops(text):
        raise click.BadParameter(f"'{value}' is not a range of steps: write 10:20, all or off.")
    return text
