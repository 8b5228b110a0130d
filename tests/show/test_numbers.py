"""How numbers are written: three significant digits, and always a unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.show.terminal.drawing.bars import bar_text, sparkline_text
from stepscope.show.terminal.drawing.numbers import (
    count,
    counted,
    digits,
    duration,
    duration_range,
    percent,
    size,
)


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (999.6, "1.00 µs"),
        (1_234, "1.23 µs"),
        (999_900, "1.00 ms"),
        (61_200_000, "61.2 ms"),
        (3_400_000_000, "3.40 s"),
        (99_960_000_000, "100 s"),
        (123_000_000_000, "2 min 03 s"),
        (5 * 3600 * 10**9 + 4 * 60 * 10**9, "5 h 04 min"),
        (-61_200_000, "−61.2 ms"),
    ],
)
def test_a_duration_has_the_unit_that_fits(ns: float | None, words: str) -> None:
    assert duration(ns) == words


@pytest.mark.parametrize(
    ("low_ns", "high_ns", "words"),
    [
        (20.1e6, 24.8e6, "20.1–24.8 ms"),
        (950e3, 1.2e6, "950 µs–1.20 ms"),
        (123e9, 130e9, "2 min 03 s–2 min 10 s"),
    ],
)
def test_a_range_has_its_unit_once_if_both_ends_share_it(
    low_ns: float, high_ns: float, words: str
) -> None:
    assert duration_range(low_ns, high_ns) == words


@given(st.floats(min_value=0, max_value=1e17))
def test_a_duration_is_short_and_never_shows_a_thousand_of_a_smaller_unit(ns: float) -> None:
    words = duration(ns)
    assert len(words) <= 15
    assert not words.startswith(("1000 ", "1,000 n", "1,000 m", "1,000 µ"))


@pytest.mark.parametrize(
    ("share", "words"),
    [(None, "-"), (0.0, "0.0 %"), (0.0001, "<0.1 %"), (0.921, "92.1 %"), (-0.256, "−25.6 %")],
)
def test_a_share_reads_as_percent_and_a_little_is_not_nothing(
    share: float | None, words: str
) -> None:
    assert percent(share) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (None, "-"),
        (512, "512 B"),
        (1536, "1.50 KiB"),
        (300 * 2**20, "300 MiB"),
        (-2048, "−2.00 KiB"),
    ],
)
def test_a_size_has_the_unit_that_fits(size_bytes: int | None, words: str) -> None:
    assert size(size_bytes) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.03, "0.0300"), (0.1674, "0.167"), (1.5, "1.50"), (12.34, "12.3"), (1234.4, "1,234")],
)
def test_a_number_has_three_digits_that_matter(value: float, words: str) -> None:
    assert digits(value) == words


def test_counts_have_separators_and_nouns_their_plural() -> None:
    assert count(60_000) == "60,000"
    assert counted(1, "process", "processes") == "1 process"
    assert counted(3, "process", "processes") == "3 processes"
    assert counted(2, "step") == "2 steps"


@given(st.floats(min_value=0, max_value=1), st.integers(min_value=1, max_value=200))
def test_a_bar_fits_its_width_and_shows_whatever_is_more_than_nothing(
    share: float, width: int
) -> None:
    for ascii_only in (True, False):
        drawn = bar_text(share, width, ascii_only=ascii_only)
        assert len(drawn) <= width
        assert bool(drawn) == (share > 0)


def test_a_sparkline_keeps_the_largest_value_of_each_column() -> None:
    values = [1.0] * 100
    values[57] = 8.0
    drawn = sparkline_text(values, 10)
    assert len(drawn) == 10
    assert drawn[5] == "█"
    assert drawn.count("█") == 1
    assert sparkline_text([], 10) == ""
    assert sparkline_text([0.0, 0.0], 10) == "▁▁"
