"""What was measured takes the place of the prediction in the findings of the baseline's run."""

from pathlib import Path

import pytest

from show.test_views import drawn
from stepscope.advise.findings import findings
from stepscope.analyze.answers.run_version import run_version
from stepscope.model import Location
from stepscope.model.findings import Finding
from stepscope.model.trial import Rung, Status
from stepscope.show.terminal.findings import findings as view
from stepscope.store.reader import open_run
from stepscope.trial.measured_gains import keep_gains
from trial.scripts import recorded_reading_again


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_reading_again(tmp_path_factory.mktemp("measured"))


def found(run: Path, *, predicted: bool = False) -> Finding:
    answer = findings(open_run(run), predicted=predicted)
    (finding,) = [each for each in answer.findings if each.id == "repeated-load"]
    return finding


def rung(
    location: Location | None,
    gains: tuple[float, float, float] | None = (3.0, 2.5, 3.5),
    status: Status = "kept",
    reason: str | None = None,
    fix: str = "cache-result",
    is_ceiling: bool = False,
) -> Rung:
    speedup, low, high = gains or (None, None, None)
    return Rung(
        fix=fix, title="", finding="repeated-load", predicted=None, status=status, reason=reason,
        speedup=speedup, low=low, high=high, rounds=2, location=location, is_ceiling=is_ceiling,
    )  # fmt: skip


def test_the_finding_shows_what_was_measured_and_says_so(recorded: Path) -> None:
    before, version = found(recorded), run_version(recorded)
    assert not before.measured
    keep_gains(str(recorded), [rung(before.location)])
    after = found(recorded)
    assert after.measured
    assert (after.speedup.expected, after.speedup.low, after.speedup.high) == (3.0, 2.5, 3.5)
    assert (after.gain, after.confidence) == (
        "3.00×", "high: measured with cache-result, in 2 rounds of runs"
    )  # fmt: skip
    answer = findings(open_run(recorded))
    assert answer.verdict.endswith("Fixing it: 3.00× faster, measured.")
    assert "3.00× (2.50–3.50×), measured" in drawn(view(answer))
    assert run_version(recorded) != version  # what is kept for the viewer is out of date
    assert found(recorded, predicted=True) == before  # a resumed trial predicts as before


def test_the_words_say_what_was_below_it_and_why_it_was_not_kept(recorded: Path) -> None:
    place = found(recorded, predicted=True).location
    first = rung(None, fix="num-workers")
    slower = rung(place, (0.9, 0.8, 0.95), "rejected", "slower")
    keep_gains(str(recorded), [first, slower])
    after = found(recorded)  # a gain below 3 %, but measured: it stays
    assert after.gain == "0.90×"
    assert after.confidence == (
        "high: measured with cache-result on top of num-workers, in 2 rounds of runs, and not "
        "kept: slower"
    )
    assert "faster" not in findings(open_run(recorded)).verdict


def test_a_ceiling_is_what_any_fix_gains_at_most(recorded: Path) -> None:
    place = found(recorded, predicted=True).location
    keep_gains(str(recorded), [rung(place, status="rejected", reason="a ceiling", is_ceiling=True)])
    after = found(recorded)
    assert (after.gain, after.measured) == ("at most 3.00×", True)
    assert "not kept" not in after.confidence


def test_of_several_fixes_the_one_that_was_kept_counts_and_then_the_ceiling(recorded: Path) -> None:
    here = found(recorded, predicted=True).location
    slower = rung(here, (0.8, 0.7, 0.9), "rejected", "slower", fix="num-workers")
    ceiling = rung(here, (4.0, 3.5, 4.5), "rejected", "a ceiling", "free-input", is_ceiling=True)
    keep_gains(str(recorded), [slower, ceiling])
    assert found(recorded).gain == "at most 4.00×"
    keep_gains(str(recorded), [slower, ceiling, rung(here)])
    assert found(recorded).gain == "3.00×"


def test_what_could_not_be_measured_or_is_elsewhere_stays_predicted(recorded: Path) -> None:
    before = found(recorded, predicted=True)
    assert before.location is not None
    elsewhere = Location(before.location.file, 1, None)
    keep_gains(str(recorded), [rung(before.location, None, "skipped"), rung(elsewhere)])
    assert found(recorded) == before


def test_a_file_that_is_damaged_costs_the_measured_gains_only(recorded: Path) -> None:
    (recorded / "measured.json").write_text('{"format": 1, "fixes": [{"fix": 3}]}')
    run = open_run(recorded)
    assert run.measured == []
    assert any("measured.json is damaged" in note for note in run.notes)
    assert not found(recorded).measured
