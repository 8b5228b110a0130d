"""Ratios of interleaved measurements: their median and how far they spread."""

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    median: float
    low: float  # a quarter of the rounds is below
    high: float  # a quarter of the rounds is above


def spread(values: Sequence[float]) -> Ratio:
    if len(values) == 1:
        return Ratio(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Ratio(median, low, high)


def slowdown(tool_s: Sequence[float], plain_s: Sequence[float]) -> Ratio:
    """How many times as long as plain, round by round: noise affects both sides of a round."""
    return spread([tool / plain for tool, plain in zip(tool_s, plain_s, strict=True)])


def added_share(
    ours_s: Sequence[float], theirs_s: Sequence[float], plain_s: Sequence[float]
) -> Ratio:
    """What we add, as a share of what they add, round by round."""
    rounds = zip(ours_s, theirs_s, plain_s, strict=True)
    return spread([(ours - plain) / (theirs - plain) for ours, theirs, plain in rounds])


def turns(names: Sequence[str], rounds: int) -> Iterator[list[str]]:
    """The order of each round: every name once, shuffled so that none always comes first."""
    order = random.Random(0)
    for _ in range(rounds):
        yield order.sample(names, len(names))


def in_brackets(middle: float | None, low: float | None, high: float | None) -> str:
    """`2.00 (1.80–2.25)`; … is an end that nobody knows."""
    if middle is None:
        return "–"
    first, last = ("…" if end is None else f"{end:.2f}" for end in (low, high))
    return f"{middle:.2f} ({first}–{last})"
