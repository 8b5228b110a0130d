"""Which waits for batches are worth a finding, and what may go away of them."""

from pathlib import Path

import pytest

from build import MS
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load
from waits import waiting_run


def judged(path: Path) -> list[Candidate]:
    run = load(path)
    assert run.main is not None
    return judge(Case(run, run.main))


def test_taking_batches_that_are_ready_is_no_fault(tmp_path: Path) -> None:
    assert judged(waiting_run(tmp_path / "run", late_ms=0, taking_ms=1.9)) == []


def test_workers_that_are_late_are_a_finding_from_three_percent_on(tmp_path: Path) -> None:
    assert judged(waiting_run(tmp_path / "few", late_ms=0.5, taking_ms=1.5)) == []
    (found,) = judged(waiting_run(tmp_path / "more", late_ms=0.7, taking_ms=1.5))
    assert found.share == pytest.approx(2.2 / 20, rel=0.01)
    assert found.saving.expected <= 0.7 * MS
    assert "At most 700 µs of that can go away: the rest is taking ready batches." in found.evidence


@pytest.mark.parametrize(("takes_ms", "is_found"), [(0.9, False), (1.1, True)])
def test_without_workers_only_what_exceeds_their_hand_over_counts(
    takes_ms: float, is_found: bool, tmp_path: Path
) -> None:
    path = waiting_run(tmp_path / "run", late_ms=0, taking_ms=takes_ms, workers=0)
    assert bool(judged(path)) == is_found


def test_batches_that_cost_more_to_take_than_to_load_are_a_finding(tmp_path: Path) -> None:
    (found,) = judged(waiting_run(tmp_path / "run", late_ms=0, taking_ms=1.9, loading_ms=0.5))
    assert "num_workers=0" in found.fix
