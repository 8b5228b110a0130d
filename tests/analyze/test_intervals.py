"""Interval arithmetic, checked against a plain implementation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.analyze.intervals import (
    Intervals,
    exclusive_by_step,
    overlap_ns,
    parents,
    step_of,
    union,
    without,
)
from stepscope.clock import Ints

Pair = tuple[int, int]


def pairs_of(lengths: list[Pair]) -> list[Pair]:
    """(start, length) to (start, end)."""
    return [(start, start + length) for start, length in lengths]


def columns(pairs: list[Pair]) -> tuple[Ints, Ints]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


@st.composite
def nested_pairs(draw: st.DrawFn) -> list[Pair]:
    """Intervals as a stack makes them: disjoint, or one inside the other."""
    found: list[Pair] = []

    def fill(start: int, end: int, depth: int) -> None:
        at = start
        while at < end - 1 and depth < 4 and draw(st.booleans()):
            begin = draw(st.integers(at, end - 1))
            stop = draw(st.integers(begin + 1, end))
            found.append((begin, stop))
            fill(begin, stop, depth + 1)
            at = stop

    fill(0, 40, 0)
    return found


numbers = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=8).map(pairs_of)


def moments_of(pairs: list[Pair]) -> set[int]:
    return {moment for a, b in pairs for moment in range(a, b)}


@given(numbers)
def test_a_union_covers_the_same_moments_once(pairs: list[Pair]) -> None:
    start, end = union(*columns(pairs))
    moments = [moment for a, b in zip(start, end, strict=True) for moment in range(a, b)]
    assert len(moments) == len(set(moments))
    assert set(moments) == moments_of(pairs)


@given(numbers, numbers)
def test_an_overlap_is_the_number_of_common_moments(one: list[Pair], other: list[Pair]) -> None:
    covered = {moment for a, b in other for moment in range(a, b)}
    expected = [len(covered & set(range(a, b))) for a, b in one]
    assert overlap_ns(*columns(one), union(*columns(other))).tolist() == expected


@given(numbers, numbers)
def test_a_difference_is_what_only_the_first_union_covers(
    one: list[Pair], other: list[Pair]
) -> None:
    start, end = without(union(*columns(one)), union(*columns(other)))
    moments = [moment for a, b in zip(start, end, strict=True) for moment in range(a, b)]
    assert len(moments) == len(set(moments))
    assert set(moments) == moments_of(one) - moments_of(other)


@given(nested_pairs(), numbers, st.sampled_from([1, 2, 100]))
def test_every_moment_belongs_to_the_innermost_interval(
    pairs: list[Pair], steps: list[Pair], at_once: int
) -> None:
    step_start, step_end = union(*columns(steps))
    start, end = columns(pairs)
    found = Intervals.sorted(start, end, np.arange(len(pairs)))
    table = exclusive_by_step(found, step_start, step_end, max(1, len(pairs)), at_once)
    expected = np.zeros_like(table)
    for moment in range(60):
        inside = [index for index, (a, b) in enumerate(pairs) if a <= moment < b]
        step = int(step_of(np.array([moment]), step_start, step_end)[0])
        if inside and step >= 0:
            # Found depth first: of several around a moment, the last one is the innermost.
            expected[step, inside[-1]] += 1
    lengths = [b - a for a, b in pairs]
    same = len(set(pairs)) == len(pairs)  # equal ones are interchangeable
    assert table.sum(axis=1).tolist() == expected.sum(axis=1).tolist()
    assert not same or lengths == [] or table.tolist() == expected.tolist()


def test_a_parent_is_the_innermost_interval_around() -> None:
    start, end = columns([(0, 10), (1, 5), (2, 3), (5, 9), (6, 7), (20, 30)])
    found = Intervals.sorted(start, end, np.arange(6))
    assert parents(found).tolist() == [-1, 0, 1, 0, 3, -1]
