"""What a finding predicts once other fixes are kept."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from stepscope.advise.findings import findings
from stepscope.model.findings import Finding, Speedup
from stepscope.store.reader import open_run
from stepscope.trial.predictions import Predictions, on_top
from trial.scripts import recorded_reading_again


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_reading_again(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def found(kept_run: Path) -> Finding:
    (finding,) = [each for each in findings(open_run(kept_run)).findings if each.trial]
    return finding


def alone(low: float, expected: float, high: float | None) -> Speedup:
    return Speedup(expected=expected, low=low, high=high)


def test_the_run_with_all_that_was_kept_is_judged_again(kept_run: Path, found: Finding) -> None:
    """In a step of which something else took most, it was worth 1.2."""
    before = replace(found, speedup=alone(1.1, 1.2, 1.5))
    predictions = Predictions()
    assert predictions.of(before, None, 1.0) == before.speedup
    assert predictions.of(before, str(kept_run), 4.0) == found.speedup


def test_what_is_gone_by_then_promises_nothing(kept_run: Path, found: Finding) -> None:
    gone = replace(found, id="gc-pressure")
    assert Predictions().of(gone, str(kept_run), 4.0) is None


def test_what_needs_operators_is_taken_off_the_step_that_is_left(
    kept_run: Path, found: Finding
) -> None:
    """A step of 100 ms: half of it is gone, and a quarter of it was this."""
    unjudged = replace(found, id="eager-overhead", speedup=alone(4 / 3, 4 / 3, 4 / 3))
    expected = Predictions().of(unjudged, str(kept_run), 2.0)
    assert expected == on_top(unjudged.speedup, 2.0)
    assert expected is not None
    assert expected.expected == pytest.approx(2.0)


def test_what_takes_all_that_is_left_has_no_upper_end() -> None:
    """Of 100 ms 40 are left, of which this takes 39.4 or 8.3: 1.65x was once predicted for it, and
    22.7x measured."""
    found = on_top(alone(1.09, 1.65, 2.5), gained=2.5)
    assert found.expected == pytest.approx(0.4 / 0.02)
    assert found.low == pytest.approx(0.4 / (0.4 - 0.09 / 1.09))
    assert found.high is None


def test_savings_that_overlap_keep_their_own_prediction() -> None:
    both = alone(2.0, 2.0, 2.0)
    assert on_top(both, gained=3.0) == both


def test_an_open_end_stays_open() -> None:
    assert on_top(alone(1.1, 1.2, None), gained=2.0).high is None
