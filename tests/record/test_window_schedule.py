"""Which steps get a window of operators, on a clock that only the test moves."""

import pytest

from stepscope.record.frameworks.windows.probe import LEAST_NS, TURNS, TURNS_BETWEEN, Probe
from stepscope.record.frameworks.windows.schedule import (
    IDLE_STEPS,
    SETTLED_STEPS,
    Schedule,
)

BUDGET = 0.75  # of which windows have one eighth, without rounding
MODULE = 7


class Clock:
    def __init__(self) -> None:
        self.now_ns = 1_000

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


def schedule(clock: Clock, ops: str = "auto", *, settle: bool = True) -> Schedule:
    return Schedule(ops, BUDGET, clock, named_steps_settle=settle)


def as_many(wanted: int) -> int:
    return wanted


def window(made: Schedule, clock: Clock, costs_ns: int) -> None:
    """The first stretch from its opening to its end; opening costs as much as closing."""
    made.begin_next(as_many)
    for report in (made.opened, made.closed):
        began_ns = clock.now_ns
        clock.now_ns += costs_ns // 2
        report(began_ns)
    made.done()


def steps_it_is_time_at(made: Schedule, last: int) -> list[int]:
    found = []
    for made.step in range(1, last + 1):
        if made.is_time():
            found.append(made.step)
    return found


def test_the_first_window_comes_after_five_steps_and_has_three(clock: Clock) -> None:
    made = schedule(clock)
    assert not made.begins_at_once
    assert steps_it_is_time_at(made, 6) == [5, 6]
    made.step = 5
    assert made.begin_next(as_many)
    ends = [made.is_last_step() for made.step in (5, 6, 7, 8)]
    assert ends == [False, False, False, True]


def test_a_window_by_default_has_as_many_steps_as_its_framework_wants(clock: Clock) -> None:
    made = schedule(clock)
    made.step = 5
    made.begin_next(lambda wanted: wanted + 7)
    assert [made.is_last_step() for made.step in (14, 15)] == [False, True]


def test_another_window_comes_only_when_both_fit_the_windows_share(clock: Clock) -> None:
    made = schedule(clock)
    began_ns = clock.now_ns
    made.step = 5
    window(made, clock, costs_ns=1_000_000)
    made.step = 25
    fits_ns = 2 * 1_000_000 * 8
    clock.now_ns = began_ns + fits_ns - 1
    assert not made.is_time()
    assert made.look_again_at() == 25 + IDLE_STEPS
    clock.now_ns = began_ns + fits_ns
    assert made.is_time()
    made.step = 24
    assert not made.is_time()


def test_ranks_do_not_choose_another_step_each_for_itself(clock: Clock) -> None:
    made = Schedule("auto", BUDGET, clock, named_steps_settle=True, is_alone=lambda: False)
    made.step = 5
    assert made.is_time()
    window(made, clock, costs_ns=0)
    assert steps_it_is_time_at(made, 100) == []


def test_after_the_last_stretch_nobody_needs_to_look_at_each_step(clock: Clock) -> None:
    made = schedule(clock)
    assert made.look_again_at() is None  # it waits for the fifth
    made.enough()
    made.step = 40
    assert not made.is_time()
    assert made.look_again_at() == 40 + IDLE_STEPS


def test_a_window_waits_until_nothing_is_compiled(clock: Clock) -> None:
    made = schedule(clock)
    made.step = 6
    made.compiled()
    assert steps_it_is_time_at(made, 10) == [6 + SETTLED_STEPS, 10]


@pytest.mark.parametrize(("settle", "first"), [(True, 9 + SETTLED_STEPS), (False, 9)])
def test_named_steps_wait_for_compilations_where_asked_to(
    clock: Clock, settle: bool, first: int
) -> None:
    made = schedule(clock, "10:20", settle=settle)
    made.step = 9
    made.compiled()
    assert steps_it_is_time_at(made, 15)[0] == first
    assert made.begin_next(as_many)
    assert [made.is_last_step() for made.step in (19, 20)] == [False, True]


def test_named_steps_that_have_gone_by_are_dropped(clock: Clock) -> None:
    made = schedule(clock, "10:20")
    made.step = 20
    assert made.is_time()
    assert not made.begin_next(as_many)
    assert not made.is_time()


def test_all_begins_at_once_and_no_step_ends_it(clock: Clock) -> None:
    made = schedule(clock, "all")
    assert made.begins_at_once
    assert made.begin_next(as_many)
    made.step = 1_000_000
    assert not made.is_last_step()


def test_a_probe_ends_with_no_step(clock: Clock) -> None:
    made = schedule(clock)
    made.step = 5
    made.begin_next(as_many)
    made.begin_without_end()
    made.step = 100
    assert not made.is_last_step()


def test_after_a_failure_there_is_no_window_of_any_kind(clock: Clock) -> None:
    made = schedule(clock)
    made.give_up()
    assert not made.is_default
    assert not made.begins_at_once
    assert steps_it_is_time_at(made, 100) == []


# --- scripts that may have no steps ---------------------------------------------------------------


def test_a_probe_begins_with_the_first_call_and_once_more_after_warmup() -> None:
    probe = Probe()
    assert probe.begins_with(MODULE, windows=0)
    opened = []
    for call in range(1, 3 * TURNS_BETWEEN):
        probe.turns += 1
        if probe.begins_with(MODULE, windows=1):
            opened.append(call)
    assert opened == [TURNS_BETWEEN]


def test_a_probe_has_seen_enough_after_some_turns_and_some_time() -> None:
    probe = Probe()
    probe.begins_with(MODULE, windows=0)
    probe.turns = TURNS - 1
    assert not probe.has_seen_enough(LEAST_NS)
    probe.turns = TURNS
    assert not probe.has_seen_enough(LEAST_NS - 1)
    assert probe.has_seen_enough(LEAST_NS)


def test_a_script_that_compiles_is_not_probed() -> None:
    probe = Probe()
    probe.is_off = True
    assert not probe.begins_with(MODULE, windows=0)
