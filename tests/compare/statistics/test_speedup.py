"""The speed-up and its interval: what must hold whatever the noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stepscope.compare.statistics.blocks import Ints
from stepscope.compare.statistics.speedup import Estimate, StepTimes, speedup

DURATIONS = arrays.arrays(np.int64, st.integers(1, 60), elements=st.integers(1_000, 10**11))
RUNS = st.lists(DURATIONS.map(StepTimes), min_size=1, max_size=3)


def steady(steps: int, mean_ns: float = 20e6, scatter: float = 0.03, seed: int = 0) -> Ints:
    each = np.random.default_rng(seed).gamma(1 / scatter**2, mean_ns * scatter**2, steps)
    return each.astype(np.int64)


def between(before: Ints, after: Ints, seed: int = 0) -> Estimate:
    return speedup([StepTimes(before)], [StepTimes(after)], seed=seed)


def values(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.expected, estimate.low, estimate.high


@settings(max_examples=60)
@given(RUNS, RUNS)
def test_the_interval_is_around_the_ratio(before: list[StepTimes], after: list[StepTimes]) -> None:
    expected, low, high = values(speedup(before, after))
    assert 0 < low <= expected <= high < math.inf


@settings(max_examples=60)
@given(RUNS, RUNS)
def test_swapped_sides_invert_it(before: list[StepTimes], after: list[StepTimes]) -> None:
    expected, low, high = values(speedup(before, after))
    assert values(speedup(after, before)) == pytest.approx((1 / expected, 1 / high, 1 / low))


@settings(max_examples=60)
@given(DURATIONS, DURATIONS, st.integers(2, 50))
def test_both_sides_slower_leave_the_ratio_and_narrow_the_interval(
    before: Ints, after: Ints, times: int
) -> None:
    """Longer runs have seen more moments of the machine; nothing else knows how long a step is."""
    once, slower = between(before, after), between(before * times, after * times)
    assert slower.expected == pytest.approx(once.expected)
    assert once.low * (1 - 1e-9) <= slower.low
    assert slower.high <= once.high * (1 + 1e-9)


@settings(max_examples=30)
@given(DURATIONS, DURATIONS)
def test_both_sides_slower_leave_the_interval_of_runs_shorter_than_a_moment(
    before: Ints, after: Ints
) -> None:
    short = between(before // 10**6 + 10, after // 10**6 + 10)
    slower = between(3 * (before // 10**6 + 10), 3 * (after // 10**6 + 10))
    assert values(slower) == pytest.approx(values(short))


@settings(max_examples=60)
@given(RUNS, RUNS)
def test_the_same_runs_give_the_same_answer(
    before: list[StepTimes], after: list[StepTimes]
) -> None:
    assert values(speedup(before, after, seed=7)) == values(speedup(before, after, seed=7))


def test_the_order_of_repeated_runs_does_not_matter() -> None:
    runs = [StepTimes(steady(100, seed=seed)) for seed in range(5)]
    there = speedup(runs[:3], runs[3:])
    assert values(speedup(runs[2::-1], runs[:2:-1])) == pytest.approx(values(there))


def test_another_seed_hardly_changes_the_interval() -> None:
    before, after = steady(300, scatter=0.5), steady(300, scatter=0.5, seed=1)
    widths = [
        math.log(found.high / found.low)
        for found in (between(before, after, seed) for seed in range(10))
    ]
    assert max(widths) < 1.1 * min(widths)


def test_twice_as_fast_is_found() -> None:
    found = between(steady(300), steady(300, mean_ns=10e6, seed=1))
    assert found.is_significant
    assert found.expected == pytest.approx(2, rel=0.01)
    assert 1.85 < found.low < 2 < found.high < 2.15


def test_one_run_each_cannot_show_less_than_runs_usually_differ_by() -> None:
    assert not between(steady(100_000), steady(100_000, mean_ns=20e6 / 1.03, seed=1)).is_significant
    assert between(steady(100_000), steady(100_000, mean_ns=20e6 / 1.08, seed=1)).is_significant


def test_repeated_runs_that_agree_show_less_than_that() -> None:
    before = [StepTimes(steady(300, seed=seed)) for seed in range(6)]
    after = [StepTimes(steady(300, mean_ns=20e6 / 1.03, seed=seed)) for seed in range(10, 16)]
    found = speedup(before, after)
    assert found.is_significant
    assert found.low < 1.03 < found.high


def test_repeated_runs_that_disagree_show_nothing() -> None:
    means = [18e6, 20e6, 22e6]
    before = [StepTimes(steady(300, mean, seed=7)) for mean in means]
    after = [StepTimes(steady(300, mean / 1.05, seed=8)) for mean in means]
    assert not speedup(before, after).is_significant


def test_a_single_run_on_one_side_is_enough_to_use_the_others_repeats() -> None:
    before = [StepTimes(steady(300, seed=seed)) for seed in range(4)]
    assert speedup(before, [StepTimes(steady(300, 10e6, seed=9))]).is_significant


@pytest.mark.parametrize(("steps", "least"), [(1, 1_000), (2, 20), (5, 2), (20, 1.2)])
def test_few_steps_give_a_wide_interval(steps: int, least: float) -> None:
    found = between(steady(steps), steady(steps, seed=1))
    assert not found.is_significant
    assert found.high / found.low > least


def test_a_few_steps_that_agree_exactly_prove_little() -> None:
    twice = np.full(2, 20_000_000)
    assert not between(twice, twice * 2).is_significant
    assert not between(twice[:1], twice[:1] * 50).is_significant


def test_one_huge_step_is_no_slow_down() -> None:
    before = steady(300)
    after = steady(300, seed=1)
    after[170] *= 100
    found = between(before, after)
    assert found.expected < 0.8
    assert not found.is_significant


def test_a_side_without_steps_says_nothing() -> None:
    nothing = StepTimes(np.zeros(0, np.int64))
    found = speedup([nothing], [StepTimes(steady(10))])
    assert not found.is_significant
    assert speedup([], []) == found


def test_steps_that_cannot_be_are_left_out() -> None:
    before, after = steady(100), steady(100, seed=1)
    with_zero = np.insert(before, 50, [0, -5])
    assert values(between(with_zero, after)) == values(between(before, after))


def test_by_sample_a_larger_batch_is_faster() -> None:
    batch = np.full(300, 32)
    small = StepTimes(steady(300), batch)
    large = StepTimes(steady(300, mean_ns=30e6, seed=1), 2 * batch)
    found = speedup([small], [large])
    assert found.is_significant
    assert found.expected == pytest.approx(4 / 3, rel=0.01)


def test_by_sample_batches_of_different_sizes_are_no_noise() -> None:
    """Steps that take as long as their batch is large differ much; the time per sample does not."""
    sizes = np.random.default_rng(0).integers(1, 65, 300)
    by_step = StepTimes(sizes * 500_000)
    by_sample = StepTimes(sizes * 500_000, sizes)
    other = sizes[::-1]
    wide = speedup([by_step], [StepTimes(other * 500_000)])
    narrow = speedup([by_sample], [StepTimes(other * 500_000, other)])
    assert narrow.expected == pytest.approx(1)
    assert narrow.high / narrow.low < 1.13 < wide.high / wide.low


def test_a_hundred_thousand_short_steps_are_no_trouble() -> None:
    many = steady(100_000, mean_ns=1e6)
    assert between(many, many // 2).expected == pytest.approx(2, rel=1e-3)
