"""Blocks: as long as steps depend on each other, and an interval as wide as that makes it."""

import math

import numpy as np
import pytest

from stepscope.compare.statistics.blocks import (
    NORMAL,
    Floats,
    Ints,
    block_length,
    block_means,
    log_mean_half_widths,
)

STEPS = 4_000


def dependent(memory: float, seed: int = 0) -> Floats:
    """Steps of mean 1 that keep this share of their neighbour's deviation."""
    shocks = np.random.default_rng(seed).normal(0, 0.05, STEPS)
    deviation = 0.0
    values = []
    for shock in shocks:
        deviation = memory * deviation + shock
        values.append(1 + deviation)
    return np.array(values)


def in_ns(values: Floats) -> Ints:
    return (values * 1e7).astype(np.int64)


def test_independent_steps_get_short_blocks_and_dependent_ones_long_blocks() -> None:
    short, long = (block_length(dependent(memory)) for memory in (0.0, 0.95))
    assert short <= 32
    assert long >= 2 * short


def test_there_are_never_so_many_blocks_that_drawing_them_takes_long() -> None:
    assert block_length(np.tile(dependent(0.0), 25)) == 200


@pytest.mark.parametrize("steps", [1, 2, 3, 15])
def test_the_shortest_runs_have_blocks_of_one_step(steps: int) -> None:
    assert block_length(dependent(0.0)[:steps]) == 1


def test_steps_that_are_all_equal_have_no_spread() -> None:
    same = np.full(300, 5_000_000)
    assert block_length(np.zeros(300)) == 1
    assert max(log_mean_half_widths(same, np.ones_like(same), 1, 0)) < 1e-9


def test_one_step_says_nothing_about_its_spread() -> None:
    one = np.array([5_000_000])
    assert log_mean_half_widths(one, np.ones_like(one), 1, 0) == (math.inf, math.inf)


def test_what_does_not_fill_a_block_is_not_counted() -> None:
    assert block_means(np.array([1.0, 3.0, 5.0, 7.0, 100.0]), 2).tolist() == [2.0, 6.0]


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_the_interval_is_as_wide_as_the_theory_says(memory: float) -> None:
    """The mean of n such steps has the standard error 0.05 / (1 - memory) / √n."""
    values = dependent(memory, seed=3)
    length = block_length(values / values.mean())
    found = log_mean_half_widths(in_ns(values), np.ones(STEPS, np.int64), length, 0)
    expected = NORMAL * 0.05 / (1 - memory) / math.sqrt(STEPS)
    assert found.below == pytest.approx(expected, rel=0.25)
    assert found.above == pytest.approx(expected, rel=0.25)


def test_a_rare_huge_step_makes_the_interval_wide_above() -> None:
    values = dependent(0.0)[:300]
    values[150] = 100
    below, above = log_mean_half_widths(in_ns(values), np.ones(300, np.int64), 4, 0)
    assert above > below > math.log(1.2)  # the run might have had none of them
