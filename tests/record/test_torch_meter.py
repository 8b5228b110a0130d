"""How full a window may be, as far as that is known."""

import pytest

import stepscope
from stepscope.errors import InputError
from stepscope.record.frameworks.windows.event_meter import FASTEST_PER_S, MOST_EVENTS, Meter
from stepscope.record.frameworks.windows.schedule import Stretch, stretches_of

SECOND = 1_000_000_000


def test_at_first_only_time_is_known() -> None:
    meter = Meter()
    full_ns = int(MOST_EVENTS / FASTEST_PER_S * SECOND)
    assert not meter.is_full(full_ns // 2, steps=1)
    assert meter.is_full(full_ns, steps=0)
    assert meter.time_left_ns(0) == full_ns
    assert meter.steps_that_fit(3) == 3


def test_a_window_that_was_closed_says_how_long_the_next_may_last() -> None:
    meter = Meter()
    meter.closed(1_000, SECOND, steps=0)
    assert meter.left == MOST_EVENTS - 1_000
    assert not meter.is_full(10 * SECOND, steps=0)
    assert meter.is_full(40 * SECOND, steps=0)


def test_steps_are_counted_where_one_was_seen() -> None:
    meter = Meter()
    meter.closed(20_000, SECOND // 100, steps=1)
    meter.refill()
    assert meter.steps_that_fit(3) == 2
    assert not meter.is_full(10 * SECOND, steps=0)  # one step at most, 30,000 events
    assert meter.is_full(10 * SECOND, steps=1)


def test_a_step_too_large_is_still_one_step() -> None:
    meter = Meter()
    meter.closed(3 * MOST_EVENTS, SECOND, steps=1)
    meter.refill()
    assert meter.steps_that_fit(3) == 1


def test_a_short_window_gives_no_rate() -> None:
    meter = Meter()
    meter.closed(1, 1_000, steps=0)
    assert meter.time_left_ns(0) == int((MOST_EVENTS - 1) / FASTEST_PER_S * SECOND)


def test_the_option_as_stretches() -> None:
    assert stretches_of("10:20") == [Stretch(after=9, steps=11)]
    assert stretches_of("all") == [Stretch(after=0)]
    assert [stretch.if_cheap for stretch in stretches_of("auto")] == [False, True]


def test_a_profiler_refuses_steps_that_are_none() -> None:
    with pytest.raises(InputError, match="10:20"):
        stepscope.Profiler("run", ops="20:10")
