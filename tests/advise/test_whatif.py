"""The simulation: what it must give when the answer can be worked out by hand."""

import numpy as np
import pytest

from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.whatif import Overlap, speedup
from stepscope.analyze.input.ready_batches import HAND_OVER_NS

MS = 1_000_000


def all_of(ns: float) -> Saving:
    return Saving.part_of(ns, expected=1.0, least=1.0)


def test_without_a_piece_the_step_is_that_much_shorter() -> None:
    steps = np.full(50, 10 * MS)
    gain = speedup(steps, all_of(5 * MS))
    assert gain.expected == pytest.approx(2.0, rel=0.06)
    assert 1.8 < gain.low < 2.0 < gain.high < 2.4  # what is left may change a little


def test_what_is_left_changes_the_less_the_less_is_taken_away() -> None:
    gain = speedup(np.full(50, 10 * MS), all_of(0.5 * MS))
    assert (gain.low, gain.high) == pytest.approx((gain.expected, gain.expected), rel=0.02)


def test_the_range_holds_the_spread_of_the_steps_and_of_the_fix() -> None:
    steps = np.array([8 * MS, 12 * MS] * 30)
    gain = speedup(steps, Saving.part_of(5 * MS, expected=1.0, least=0.5))
    assert gain.expected == pytest.approx(2.0, rel=0.06)
    assert gain.low < 2.0 < gain.high
    assert gain.low > 1.2


def test_nothing_runs_in_no_time() -> None:
    gain = speedup(np.full(20, 10 * MS), all_of(10 * MS))
    assert gain.expected == pytest.approx(100.0)


@pytest.mark.parametrize(("workers", "expected_ms"), [(1, 20.0), (2, 10.0), (4, 10.0)])
def test_workers_load_beside_the_step_until_it_waits_no_more(
    workers: int, expected_ms: float
) -> None:
    """20 ms to load, 10 ms for the rest, and enough cores for all."""
    overlap = Overlap(np.full(400, 20.0 * MS), np.full(400, 10.0 * MS), 10.0 * MS, 16, HAND_OVER_NS)
    assert overlap.step_ns(workers) / MS == pytest.approx(expected_ms, rel=0.06)


def test_without_a_free_core_workers_gain_nothing() -> None:
    """The rest keeps both cores busy: 20 ms of loading still have to be computed somewhere."""
    overlap = Overlap(np.full(400, 20.0 * MS), np.full(400, 10.0 * MS), 20.0 * MS, 1, HAND_OVER_NS)
    assert overlap.step_ns(4) / MS == pytest.approx(40.0)
    two = Overlap(np.full(400, 20.0 * MS), np.full(400, 10.0 * MS), 20.0 * MS, 2, HAND_OVER_NS)
    assert two.step_ns(4) / MS == pytest.approx(20.0, rel=0.05)
