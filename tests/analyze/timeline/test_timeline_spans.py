"""Spans merged so that they can be drawn: none gets lost, none is shown elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.analyze.timeline.spans import Spans, between, few, nested


def spans_of(*pairs: tuple[int, int]) -> Spans:
    start = np.array([first for first, _ in pairs], np.int64)
    end = np.array([last for _, last in pairs], np.int64)
    return nested(start, end, np.arange(len(pairs)))


def rows_of(spans: Spans) -> list[tuple[int, int, int, int, int]]:
    columns = spans.start_ns, spans.end_ns, spans.name, spans.level, spans.count
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_what_lies_inside_another_is_one_level_deeper() -> None:
    spans = spans_of((0, 100), (10, 40), (20, 30), (50, 90))
    assert spans.level.tolist() == [0, 1, 2, 1]


def test_short_ones_close_together_become_one_under_the_name_of_the_longest() -> None:
    spans = spans_of((0, 1000), (10, 12), (13, 18), (19, 20), (600, 900))
    shown = between(spans, 0, 1000, 100)
    assert rows_of(shown) == [(0, 1000, 0, 0, 1), (10, 20, 2, 1, 3), (600, 900, 4, 1, 1)]


def test_only_what_is_seen_is_there() -> None:
    spans = spans_of((0, 10), (20, 30), (40, 50))
    assert rows_of(between(spans, 15, 35, 0)) == [(20, 30, 1, 0, 1)]


def test_levels_are_never_mixed() -> None:
    spans = spans_of((0, 10), (1, 9), (2, 8))
    assert sorted(rows_of(between(spans, 0, 1000, 100))) == [
        (0, 10, 0, 0, 1), (1, 9, 1, 1, 1), (2, 8, 2, 2, 1),
    ]  # fmt: skip


def test_few_is_all_of_them_where_they_are_few() -> None:
    spans = spans_of((0, 10), (20, 30))
    assert few(spans, 2) is spans


@pytest.mark.parametrize("most", [10, 100, 1000])
def test_many_become_at_most_as_many_as_asked_for(most: int) -> None:
    start = np.arange(0, 5_000_000, 50)
    spans = nested(start, start + 40, np.zeros(len(start), np.int64))
    shown = few(spans, most)
    assert len(shown) <= most
    assert int(shown.count.sum()) == len(spans)


pairs = st.tuples(st.integers(0, 10_000), st.integers(1, 3_000)).map(lambda p: (p[0], p[0] + p[1]))


@given(st.lists(pairs, min_size=1, max_size=60), st.floats(1, 5_000))
def test_nothing_gets_lost_and_nothing_is_added(given: list[tuple[int, int]], least: float) -> None:
    spans = spans_of(*given)
    shown = between(spans, 0, 20_000, least)
    assert int(shown.count.sum()) == len(given)
    starts, ends = {first for first, _ in given}, {last for _, last in given}
    assert set(shown.start_ns.tolist()) <= starts
    assert set(shown.end_ns.tolist()) <= ends
    assert (np.diff(shown.start_ns) >= 0).all()
