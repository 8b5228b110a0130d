"""What taking a ready batch costs, from waits whose parts are known."""

from pathlib import Path

import pytest

from build import MS
from stepscope.analyze.input.ready_batches import HAND_OVER_NS, hand_over
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import find_steps
from waits import waiting_run


def taking_ns(path: Path) -> float:
    run = load(path)
    assert run.main is not None
    found = hand_over(run, run.main, find_steps(run, run.main))
    assert found.batches == 1.0
    return found.step_ns


@pytest.mark.parametrize("late_ms", [0, 5])
def test_waiting_for_a_batch_to_arrive_is_no_part_of_taking_it(
    late_ms: int, tmp_path: Path
) -> None:
    path = waiting_run(tmp_path / "run", late_ms=late_ms, taking_ms=1)
    assert taking_ns(path) == pytest.approx(MS)


def test_loading_without_workers_may_take_less(tmp_path: Path) -> None:
    path = waiting_run(tmp_path / "run", late_ms=0, taking_ms=1.5, loading_ms=0.5)
    assert taking_ns(path) == pytest.approx(0.5 * MS)


def test_what_takes_longer_than_tensors_is_not_needed(tmp_path: Path) -> None:
    path = waiting_run(tmp_path / "run", late_ms=0, taking_ms=8)
    assert taking_ns(path) == pytest.approx(2 * MS)


def test_without_workers_it_is_what_they_would_take(tmp_path: Path) -> None:
    path = waiting_run(tmp_path / "run", late_ms=0, taking_ms=8, workers=0)
    assert taking_ns(path) == HAND_OVER_NS
