"""Ticks to nanoseconds and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.clock import Clock


def clock_of(*triples: tuple[int, int, int], ns_per_tick: float = 1.0) -> Clock:
    ticks, monotonic, realtime = np.array(triples, dtype=np.uint64).reshape(-1, 3).T
    return Clock(ticks, monotonic, realtime, ns_per_tick=ns_per_tick)


def ns(clock: Clock, *ticks: int) -> list[int]:
    return [int(value) for value in clock.ns(np.array(ticks, dtype=np.uint64))]


def test_between_triples_it_is_linear_in_each_stretch() -> None:
    clock = clock_of((1000, 0, 0), (2000, 500, 500), (3000, 600, 600))
    assert ns(clock, 1000, 1500, 2000, 2500, 3000) == [0, 250, 500, 550, 600]


def test_beyond_the_triples_it_goes_on_at_the_mean_rate() -> None:
    clock = clock_of((1000, 10_000, 0), (2000, 10_500, 500), (3000, 11_600, 600))
    assert ns(clock, 5000, 0) == [11_600 + 1600, 10_000 - 800]


def test_large_counters_keep_their_nanoseconds() -> None:
    far = 2**60
    clock = clock_of((far, 10**15, 0), (far + 3 * 10**15, 2 * 10**15, 0))
    assert ns(clock, far + 3) == [10**15 + 1]


def test_one_triple_needs_the_rate_from_elsewhere() -> None:
    clock = clock_of((1000, 10, 0), ns_per_tick=0.5)
    assert not clock.is_calibrated
    assert ns(clock, 1100) == [60]


def test_triples_that_go_back_or_cannot_be_are_left_out() -> None:
    damaged = (2**64 - 1, 2**64 - 1, 2**64 - 1)
    clock = clock_of((1000, 0, 0), (500, 900, 0), damaged, (3000, 1000, 0))
    assert ns(clock, 2000) == [500]


def test_wall_time_is_there_and_back() -> None:
    clock = clock_of((0, 100, 5100), (10, 110, 5110))
    assert clock.wall_ns(107) == 5107
    assert clock.monotonic_ns(5107) == 107


@given(st.integers(0, 2**50), st.integers(1, 2**40), st.integers(1, 2**38))
def test_ticks_at_is_the_inverse(first: int, ticks: int, asked: int) -> None:
    clock = clock_of((first, 77, 0), (first + ticks, 77 + 2 * ticks, 0))
    assert clock.ns_at(clock.ticks_at(77 + 2 * asked)) == 77 + 2 * asked


@given(st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), max_size=5), st.integers(0, 2**64 - 1))
def test_any_triples_make_a_clock(triples: list[tuple[int, int, int]], tick: int) -> None:
    clock = clock_of(*triples)
    assert isinstance(clock.ns_at(tick), int)
