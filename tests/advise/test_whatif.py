"""The simulation: what it must give when the answer can be worked out by hand."""

import dataclasses

import numpy as np
import pytest

from stepscope.advise.evidence.words import gain
from stepscope.advise.gain.fused_step import rewritten, together
from stepscope.advise.gain.loading import in_pipeline
from stepscope.advise.gain.overlap import Overlap
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.vectorised import Line, on_tensors, vectorised
from stepscope.advise.gain.whatif import Steps, one_after_another, simulated, speedup
from stepscope.analyze.input.ready_batches import HAND_OVER_NS
from stepscope.model.findings import Speedup

MS = 1_000_000
US = 1_000.0
ANOTHER_RUN = 1.055  # what equal runs differ by


def all_of(ns: float) -> Saving:
    return Saving.part_of(ns, expected=1.0, least=1.0)


def even(count: int = 50) -> Steps:
    """Of 10 ms each, of which recording took 3 %."""
    return Steps(np.full(count, 10 * MS), recording=0.03)


def test_without_a_piece_the_step_is_that_much_shorter() -> None:
    """Recording is in neither part of it: 9.7 ms become 4.7."""
    found = simulated(even(), all_of(5 * MS))
    assert found.expected == pytest.approx(9.7 / 4.7)
    assert found.high is not None
    assert 1.85 < found.low < 2.0 < 2.1 < found.high < 2.4  # what recording took may be off as much


def test_what_is_left_changes_the_less_the_less_is_taken_away() -> None:
    found = simulated(even(), all_of(0.5 * MS))
    by_noise = (found.expected / ANOTHER_RUN, ANOTHER_RUN * found.expected)
    assert (found.low, found.high) == pytest.approx(by_noise, rel=0.02)


def test_the_range_holds_the_spread_of_the_steps_and_of_the_fix() -> None:
    steps = Steps(np.array([8 * MS, 12 * MS] * 30))
    found = simulated(steps, Saving.part_of(5 * MS, expected=1.0, least=0.5))
    assert found.expected == pytest.approx(2.0)
    assert found.high is not None
    assert 1.2 < found.low < 2.0 < found.high


def test_quiet_steps_show_how_fast_the_rest_may_get() -> None:
    """5 of each 10 ms are left, but 3 in the quieter half of the steps: two fifths less. As half of
    the step is taken away, half of that counts: 4 ms. Two runs differ by 1 % of what goes away, and
    60 shares that are 1 ms off the mean make the step a quarter of a millisecond longer."""
    saving = dataclasses.replace(all_of(5 * MS), by_step_ns=np.full(60, 5 * MS))
    found = simulated(Steps(np.array([8 * MS, 12 * MS] * 30)), saving)
    assert found.expected == pytest.approx(2.0)
    assert found.high == pytest.approx(ANOTHER_RUN * (1 + 2 * 0.1 / 60**0.5) / (0.4 - 0.005))


def test_quiet_steps_are_no_faster_than_the_others_were_with_a_core() -> None:
    """Each step has its core for 10 ms, but which of them lost it for 10 more is not known so
    exactly: it seems to be another one each time."""
    durations = np.array([10 * MS, 20 * MS] * 30)
    lost = np.array([10.0 * MS, 0.0] * 30)
    found = simulated(Steps(durations, lost), all_of(7.5 * MS))
    assert found.expected == pytest.approx(2.0)
    assert found.high is not None
    assert found.high < 2.1 * ANOTHER_RUN


def test_chance_in_what_is_blamed_leaves_the_rest_as_it_is() -> None:
    """Every fifth step compiles for 90 ms, and 2 ms are left of each: another run may compile in
    more of them, and gain as much more, but a step that compiles nothing still takes 2 ms."""
    compiles = np.array([0, 0, 0, 0, 90 * MS] * 20)
    saving = Saving(expected=18.0 * MS, least=18.0 * MS, most=18.0 * MS, by_step_ns=compiles)
    found = simulated(Steps(compiles + 2 * MS), saving)
    assert found.expected == pytest.approx(10.0)
    assert found.high is not None
    assert 6 < found.low < 10 < found.high < 16


def test_hardly_anything_left_leaves_the_upper_end_open() -> None:
    found = simulated(even(), Saving.without(9.7 * MS))
    assert found.high is None
    assert found.expected == pytest.approx(0.97 / (0.03 * 0.97))
    # A quarter of it may be done instead, and recording may lie in what is blamed.
    assert found.low == pytest.approx(0.97 / (0.97 - 0.75 * 0.97 + 0.03 * 0.97) / ANOTHER_RUN)
    assert gain(found) == "at least 3.4×"


def test_no_less_is_left_than_the_error_of_recording() -> None:
    assert simulated(even(), all_of(10 * MS)).expected == pytest.approx(0.97 / 0.03)


def test_an_end_that_the_run_does_not_know_is_open() -> None:
    found = simulated(even(), Saving(expected=5 * MS, least=5 * MS, most=None))
    assert found.expected == pytest.approx(9.7 / 4.7)
    assert found.high is None


def test_a_step_that_lost_its_core_counts_with_the_time_that_it_had_one() -> None:
    """Half of every second step is blamed. Those lost 30 of their 40 ms, so that they are no longer
    than the others: a quarter goes away, by the clock it would be two fifths."""
    steps = Steps(np.array([10 * MS, 40 * MS] * 20), np.array([0.0, 30.0 * MS] * 20))
    saving = dataclasses.replace(all_of(10 * MS), by_step_ns=np.array([0, 20 * MS] * 20))
    assert simulated(steps, saving).expected == pytest.approx(1 / 0.75)
    assert simulated(Steps(steps.duration_ns), saving).expected == pytest.approx(1 / 0.6)


def test_what_the_machine_added_to_a_few_steps_is_in_no_part_of_the_script() -> None:
    """8 of 10 ms are blamed: a fifth is left, also where every tenth step took 40 ms more."""
    added = np.array([0] * 9 + [40 * MS]).repeat(5)
    steps = Steps(added + 10 * MS, added_ns=added)
    assert simulated(steps, all_of(8 * MS)).expected == pytest.approx(5.0)
    assert simulated(Steps(added + 10 * MS), all_of(8 * MS)).expected == pytest.approx(14 / 6)


def test_no_fix_is_promised_to_make_it_slower() -> None:
    """One step of ten saves, for half of all the time: by chance it may be none."""
    durations = np.array([10 * MS] * 9 + [100 * MS])
    saving = dataclasses.replace(all_of(9.0 * MS), by_step_ns=np.array([0] * 9 + [90 * MS]))
    assert simulated(Steps(durations), saving).low == 1.0


def test_what_a_fix_gains_after_the_others_is_not_told_if_nothing_is_left_for_it() -> None:
    savings = [all_of(5 * MS), all_of(2.5 * MS), all_of(2.5 * MS)]
    assert one_after_another(even(), savings) == [2.0, 2.0, None]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Speedup(expected=2.3, low=2.0, high=2.5), "2.30×"),
        (Speedup(expected=12.4, low=9.0, high=14.0), "12×"),
        (Speedup(expected=55.0, low=6.0, high=None), "at least 6×"),
        (Speedup(expected=1.0, low=1.0, high=1.0), None),
    ],
)
def test_a_gain_in_words(found: Speedup, words: str | None) -> None:
    assert gain(found) == words


def test_a_loop_of_short_lines_is_nearly_all_python() -> None:
    """1000 turns of 0.1 µs, with two operations each, of 0.3 to 20 ns an element of an array:
    between the two, 2.4, and 20 at most."""
    saving = vectorised(100 * US, [Line(100 * US, hits=1000, operations=2)])
    assert saving.expected == pytest.approx(100 * US - 2 * 6**0.5 * US)
    assert (saving.least, saving.most) == pytest.approx((60 * US, 100 * US))


def test_calls_on_small_arrays_compute_something_that_stays() -> None:
    """1 to 10 % of what they take: 3 between the two, and 10 at most."""
    saving = vectorised(1000 * US, [Line(1000 * US, hits=200, operations=1)])
    assert saving.expected == pytest.approx(1000 * US * (1 - 0.001**0.5))
    assert saving.least == pytest.approx(900 * US)


def test_operators_for_each_element_become_as_many_for_all_of_them() -> None:
    """1,000 turns of 100 µs, with 4 operators each: one turn is left, with 4,000 elements of 0.3 to
    20 ns, and what the operators compute."""
    cost = 100_000 * US
    saving = on_tensors(
        cost,
        stays_ns=500 * US,
        most_stays_ns=900 * US,
        least_stays_ns=0.0,
        operators=4000,
        turns=1000,
    )
    assert saving.expected == pytest.approx(cost - (500 + 100 + 4 * 6**0.5) * US)
    assert saving.least == pytest.approx(cost - (900 + 100 + 4 * 20) * US)
    assert saving.most == cost


def test_half_of_what_long_calls_take_is_expected_to_stay() -> None:
    """100 turns of 25 µs in one call: 5 are calling it, 20 are its work."""
    saving = vectorised(2500 * US, [Line(2500 * US, hits=100, operations=1)])
    assert saving.expected == pytest.approx(1500 * US, rel=0.02)
    assert saving.least == pytest.approx(450 * US, rel=0.01)
    assert saving.most == 2500 * US


def loading(rest_cpu_ms: float, cores: float, load_cpu_ms: float = 20.0) -> Overlap:
    """20 ms to load, 10 ms for the rest."""
    return Overlap(
        np.full(400, 20.0 * MS), np.full(400, 10.0 * MS), load_cpu_ms * MS, rest_cpu_ms * MS,
        cores, HAND_OVER_NS,
    )  # fmt: skip


@pytest.mark.parametrize(("workers", "expected_ms"), [(1, 20.0), (2, 10.0), (4, 10.0)])
def test_workers_load_beside_the_step_until_it_waits_no_more(
    workers: int, expected_ms: float
) -> None:
    """Enough cores for all."""
    assert loading(10, 16).step_ns(workers) / MS == pytest.approx(expected_ms, rel=0.06)


def test_without_a_free_core_workers_gain_nothing() -> None:
    """The rest keeps both cores busy: 20 ms of loading still have to be computed somewhere."""
    assert loading(20, 1).step_ns(4) / MS == pytest.approx(40.0)
    assert loading(20, 2).step_ns(4) / MS == pytest.approx(20.0, rel=0.05)


def test_workers_that_wait_for_a_server_need_no_core() -> None:
    assert loading(10, 1, load_cpu_ms=0).step_ns(2) / MS == pytest.approx(10.0, rel=0.06)


def test_what_more_workers_gain_is_the_difference_of_two_simulations() -> None:
    """From 30 ms without workers to 20 with one, and from there to 10 with two."""
    overlap = loading(10, 16)
    assert overlap.gained(1, now=0) == pytest.approx(1 / 3, rel=0.06)
    assert overlap.gained(2, now=1) == pytest.approx(1 / 2, rel=0.06)
    assert overlap.best(range(1, 5), now=0) == 2


def test_what_recording_took_of_a_loop_is_known_and_no_doubt() -> None:
    """Of 10 ms, 7 are a loop, and 3 of those the events of its lines: 7 ms become 3."""
    steps = Steps(np.full(50, 10 * MS), recording=0.3)
    loop = Saving(expected=7 * MS, least=7 * MS, most=7 * MS)
    known = simulated(steps, dataclasses.replace(loop, recorded_ns=3 * MS))
    assert known.expected == pytest.approx(7 / 3)
    assert known.high is not None
    assert known.high / known.low < 1.1 * ANOTHER_RUN**2
    unknown = simulated(steps, loop)
    assert unknown.expected == pytest.approx(10 / 3)
    assert unknown.high is None


@pytest.mark.parametrize(
    ("cores", "parallel", "left_ms"), [(1, 1, 7.5), (2, 2, 5.0), (2, 1, 5.0), (8, 8, 5.0)]
)
def test_a_pipeline_beside_the_step_takes_what_the_longest_of_both_takes(
    cores: float, parallel: float, left_ms: float
) -> None:
    """Of 10 ms, 5 are the wait. On one core only a cache helps, with half of the wait."""
    found = in_pipeline(
        5 * MS, 10 * MS, computed_ns=10 * MS, cores=cores, parallel=parallel
    )  # fmt: skip
    assert 10 - found.expected / MS == pytest.approx(left_ms)


def test_a_pipeline_that_loads_longer_than_the_step_still_limits_it() -> None:
    """8 of 10 ms are the wait. Python calls run one at a time: the step waits for them."""
    one = in_pipeline(8 * MS, 10 * MS, computed_ns=10 * MS, cores=8, parallel=1.5)
    assert 10 - one.expected / MS == pytest.approx(8 / 1.5)
    many = in_pipeline(8 * MS, 10 * MS, computed_ns=10 * MS, cores=8, parallel=8)
    assert 10 - many.expected / MS == pytest.approx(2.0)


def test_what_is_not_about_time_promises_nothing() -> None:
    assert simulated(even(), all_of(0.0)) == Speedup(expected=1.0, low=1.0, high=1.0)


@pytest.mark.parametrize(
    ("gone_ms", "is_replaced", "low", "high"),
    [(5.0, True, 1.13, 3.76), (5.0, False, 1.53, 2.79), (1.0, True, 1.02, 1.22)],
)
def test_a_range_is_no_narrower_than_predictions_were_wrong(
    gone_ms: float, is_replaced: bool, low: float, high: float
) -> None:
    """A large gain is less known than a small one, and least where other code does the same."""
    saving = dataclasses.replace(all_of(gone_ms * MS), is_replaced=is_replaced)
    found = speedup(even(), saving)
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_the_error_of_a_large_gain_is_a_factor() -> None:
    """Of 14 times the range was once 1.6 to 120."""
    found = speedup(even(), all_of(9.0 * MS))
    assert found.high is not None
    assert found.expected / found.low == pytest.approx(5.0**0.83, abs=0.1)
    assert found.high / found.expected == pytest.approx(5.0**0.83, abs=0.3)


@pytest.mark.parametrize(("name", "elements"), [("NAdam", 10_000), ("Adamax", 4_000), ("ASGD", 64)])
def test_lists_that_take_longer_than_the_loop_promise_nothing(name: str, elements: int) -> None:
    found = together(8 * MS, 100, 100.0 * elements, name)
    assert found.expected == found.least == 0.0


def test_an_optimizer_of_ones_own_gains_between_lists_of_tensors_and_one_flat_tensor() -> None:
    """500 tensors of 100 elements for 8 ms: 5.4 ms with lists, 0.7 ms with one tensor."""
    found = rewritten(8 * MS, 500, 50_000)
    assert found.least == pytest.approx((1 - 1.4 * 0.67) * 8 * MS)
    assert found.expected == pytest.approx(8 * MS - (5.36 * 0.71) ** 0.5 * MS)
    assert found.most == pytest.approx(7.29 * MS)
