"""Rounds in which both sides ran next to each other, looked at after each of them."""

import math

import numpy as np
import pytest

from stepscope.compare.statistics.paired_rounds import is_clear, rounds
from stepscope.compare.statistics.speedup import Estimate

TRAININGS = 1_500
MOST_ROUNDS = 12


def ever_significant(random: np.random.Generator, controls: int) -> bool:
    """Two equal sides, looked at after every round."""
    drift = np.exp(random.normal(0, 0.2, MOST_ROUNDS))  # the same for both sides of a round
    before, after = drift * np.exp(random.normal(0, 0.03, (2, MOST_ROUNDS)))
    noise = np.exp(random.normal(0, 0.03 * math.sqrt(2), controls)).tolist()
    return any(
        rounds(before[:count], after[:count], noise).is_significant
        for count in range(1, MOST_ROUNDS + 1)
    )


@pytest.mark.parametrize("controls", [0, 1, 3])
def test_looking_after_every_round_does_not_make_equal_sides_differ(controls: int) -> None:
    random = np.random.default_rng(controls)
    wrong = [ever_significant(random, controls) for _ in range(TRAININGS)]
    assert np.mean(wrong) <= 0.05


def test_the_ratio_is_the_mean_over_rounds_whatever_drifts_between_them() -> None:
    found = rounds([10.0, 20.0, 40.0], [5.0, 10.0, 20.0])
    assert found.expected == pytest.approx(2)
    assert found.is_significant


def test_swapped_sides_invert_it() -> None:
    before, after = [10.0, 11.0, 10.5], [9.0, 9.1, 9.2]
    there, back = rounds(before, after, [1.01]), rounds(after, before, [1.01])
    assert back.expected == pytest.approx(1 / there.expected)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))


def test_two_rounds_alone_say_little_and_a_control_helps() -> None:
    alone = rounds([10.0, 10.1], [8.0, 8.2])
    controlled = rounds([10.0, 10.1], [8.0, 8.2], [1.01, 0.99])
    assert not alone.is_significant
    assert controlled.is_significant
    assert controlled.low < 1.24 < controlled.high


def test_a_control_that_differs_widens_the_interval() -> None:
    before, after = [10.0, 10.1], [8.0, 8.2]
    assert rounds(before, after, [1.01, 0.99]).is_significant
    assert not rounds(before, after, [1.3, 0.8]).is_significant


@pytest.mark.parametrize("noise", [[], [1.2]])
def test_one_round_is_an_honest_guess(noise: list[float]) -> None:
    found = rounds([10.0], [8.0], noise)
    assert found.expected == pytest.approx(1.25)
    assert not found.is_significant
    assert found.high / found.low > 10


def test_one_round_that_is_four_times_as_fast_is_no_chance() -> None:
    assert rounds([10.0], [2.5]).is_significant
    assert not rounds([10.0], [3.0]).is_significant


def test_no_round_says_nothing() -> None:
    assert not is_clear(rounds([], []))


def test_rounds_that_cannot_be_are_left_out() -> None:
    usual = rounds([10.0, 11.0], [9.0, 9.5], [1.01])
    assert rounds([10.0, 0.0, 11.0, math.nan], [9.0, 9.0, 9.5, 9.0], [1.01, 0.0]) == usual


def test_rounds_that_agree_exactly_leave_some_doubt() -> None:
    found = rounds([10.0] * 4, [10.0] * 4)
    assert found.low < 1 < found.high


@pytest.mark.parametrize(
    ("low", "high", "clear"),
    [
        (1.1, 1.4, True),  # faster
        (0.6, 0.9, True),  # slower
        (0.99, 1.01, True),  # the same
        (0.9, 1.2, False),
        (0.99, 1.3, False),
    ],
)
def test_it_is_clear_when_the_sides_differ_or_are_the_same(
    low: float, high: float, clear: bool
) -> None:
    assert is_clear(Estimate(math.sqrt(low * high), low, high)) is clear
