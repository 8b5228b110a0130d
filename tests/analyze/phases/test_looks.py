"""What looks at the stack can show, and what may be chance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.analyze.phases.looks import chance_of


def test_all_looks_at_a_line_are_as_likely_as_so_many_in_a_row() -> None:
    assert chance_of(1.0, seen=3, usual=0.2) == pytest.approx(0.2**3)


def test_a_share_as_usual_is_chance() -> None:
    assert chance_of(0.3, seen=1000, usual=0.3) == 1.0
    assert chance_of(0.5, seen=0, usual=0.1) == 1.0


def test_where_nothing_was_ever_seen_a_few_looks_do_not_prove_much() -> None:
    assert chance_of(1.0, seen=1, usual=0.0) > 0.1
    assert chance_of(1.0, seen=10, usual=0.0) < 1e-6


@given(seen=st.integers(1, 60), hits=st.integers(0, 60), usual=st.floats(0.01, 0.99))
def test_it_never_says_less_than_counting_all_cases(seen: int, hits: int, usual: float) -> None:
    hits = min(hits, seen)
    exact = sum(
        math.comb(seen, count) * usual**count * (1 - usual) ** (seen - count)
        for count in range(hits, seen + 1)
    )
    assert chance_of(hits / seen, seen=seen, usual=usual) >= exact - 1e-9
