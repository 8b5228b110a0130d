"""Warm-up: real ones are recognised, and noise does not make any."""

from unittest.mock import Mock

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.analyze.steps import warmup as warmup_module
from stepscope.analyze.steps.warmup import LEAST_WARMUP, warmup_steps

_Times = npt.NDArray[np.float64]
_COUNTS = st.sampled_from([60, 100, 200, 469, 2000])
_SEEDS = st.integers(0, 10_000)


def usual(rng: np.random.Generator, count: int) -> _Times:
    """Steps of about 10 ms, in ns."""
    times: _Times = 10e6 * (1 + 0.05 * rng.standard_normal(count)).clip(0.5)
    return times


def warmup(times: _Times) -> int:
    return warmup_steps(times.astype(np.int64))


@given(_COUNTS, _SEEDS, st.floats(0.2, 0.5), st.floats(1.1, 3.0), st.floats(0.3, 1.0))
def test_a_busy_machine_at_the_start_is_no_warm_up(
    count: int, seed: int, part: float, slower: float, disturbed: float
) -> None:
    """`part` of the run is disturbed, with that share of its steps."""
    rng = np.random.default_rng(seed)
    times = usual(rng, count)
    burst = int(part * count)
    times[:burst] *= np.where(rng.random(burst) < disturbed, slower, 1.0)
    assert warmup(times) <= max(2 * LEAST_WARMUP, count // 4)


@given(_COUNTS, _SEEDS, st.floats(1.0, 3.0), st.floats(1.0, 3.0))
def test_a_slow_drift_is_no_warm_up(count: int, seed: int, first: float, last: float) -> None:
    times = usual(np.random.default_rng(seed), count) * np.linspace(first, last, count)
    assert warmup(times) <= max(2 * LEAST_WARMUP, count // 4)


@given(_COUNTS, _SEEDS, st.floats(0.2, 0.8), st.floats(1.2, 10.0))
def test_two_kinds_of_steps_are_no_warm_up(
    count: int, seed: int, part: float, slower: float
) -> None:
    rng = np.random.default_rng(seed)
    times = usual(rng, count) * np.where(rng.random(count) < part, slower, 1.0)
    assert warmup(times) <= max(3 * LEAST_WARMUP, count // 4)


@given(_COUNTS, _SEEDS, st.lists(st.floats(3.0, 1000.0), min_size=1, max_size=9), st.booleans())
def test_compilations_and_cold_caches_are_warm_up(
    count: int, seed: int, slower: list[float], is_busy: bool
) -> None:
    """Also where the machine is busy after that."""
    times = usual(np.random.default_rng(seed), count)
    if is_busy:
        times[: count // 2] *= 1.4
    times[: len(slower)] *= slower
    found = warmup(times)
    assert max(LEAST_WARMUP, len(slower)) <= found <= 2 * LEAST_WARMUP


@pytest.mark.parametrize("count", [100, 469, 2000])
def test_times_that_settle_bit_by_bit_are_warm_up_until_they_have(count: int) -> None:
    """Three times as long at first, a quarter more after ten steps."""
    steps = np.arange(count)
    found = warmup(usual(np.random.default_rng(1), count) * (1 + 2 * np.exp(-steps / 5)))
    assert 8 <= found <= 25


def test_a_burst_of_noise_over_184_of_469_steps_is_measured() -> None:
    times = usual(np.random.default_rng(2), 469)
    times[:184] *= 1.3
    assert warmup(times) == LEAST_WARMUP


def test_looking_for_the_end_of_a_long_warm_up_takes_few_passes_over_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each takes all the steps of a quarter of the run."""
    limit = Mock(wraps=warmup_module._limit)
    monkeypatch.setattr(warmup_module, "_limit", limit)
    times = usual(np.random.default_rng(3), 100_000)
    times[:5_000] *= 2
    assert abs(warmup(times) - 5_000) <= 5
    assert limit.call_count <= 110
