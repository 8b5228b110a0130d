"""The zoo counts what trials of its scripts are worth, and never measures a script twice."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.zoo import trials
from benchmarks.zoo.changes_nothing import FIX
from benchmarks.zoo.measure import Failed, Gain, Round
from benchmarks.zoo.specimens import HELD_OUT, KNOWN, Specimen
from benchmarks.zoo.trial_results import Skipped, Tried, cells, page, scores
from benchmarks.zoo.trials import Effort, saved_rows, try_all
from stepscope.model.findings import Speedup
from stepscope.model.trial import LossCheck, Rung, TrialAnswer, TrialBaseline
from stepscope.trial import fixes
from stepscope.trial.mean_step import MeasuredSteps

EFFORT = Effort(rounds=3, minutes=10)
GAIN = Gain([Round(0.030, 0.015)] * 3)  # twice as fast
MACHINE = {
    "date": "2026-11-18", "processor": "a CPU", "cores": 2, "system": "Linux", "load_before": 0.1,
    "python": "3.11.7",
}  # fmt: skip
SAME = LossCheck(same=True, how="bitwise", as_promised=True, max_difference=0.0, words="identical")


def specimen(fault: str | None = "repeated-load", folder: str = KNOWN) -> Specimen:
    return Specimen("a_script", fault, ["load"] if fault else [], "numpy", folder)


def rung(status: str = "kept", speedup: float | None = 2.0, **fields: Any) -> Rung:
    given = {
        "fix": "cache-result",
        "finding": "repeated-load",
        "predicted": Speedup(expected=2.2, low=1.8, high=2.7),
        "reason": None,
        "loss": SAME if speedup else None,
    }
    ends = {"low": speedup - 0.1, "high": speedup + 0.1} if speedup else {}
    return msgspec.convert(
        {"title": "…", "status": status, "speedup": speedup, **ends, **given, **fields}, Rung
    )


def answer(*rungs: Rung) -> TrialAnswer:
    baseline = TrialBaseline(
        step_ms=50.0, per_s=20.0, samples_per_s=None, steps=60, verdict="…", run="run"
    )
    return TrialAnswer(
        folder="try", baseline=baseline, noise=None, rungs=list(rungs), together=None, runs=9,
        seconds=60.0, stopped=None,
    )  # fmt: skip


def tried(*rungs: Rung, gain: Gain | None = GAIN, folder: str = KNOWN) -> Tried:
    return Tried(specimen(folder=folder), MACHINE, answer(*rungs), gain)


def healthy(*rungs: Rung, control: str) -> Tried:
    about = rung(control, 1.0, fix=FIX.name, finding=None, predicted=None)
    return Tried(specimen(None), MACHINE, answer(*rungs), control=answer(about))


def test_a_kept_fix_is_held_against_the_switch_and_the_prediction() -> None:
    row = tried(rung())
    assert (row.is_kept, row.is_close, row.is_inside, row.losses_hold) == (True,) * 4
    assert row.ratio == pytest.approx(1.1)
    assert row.width == pytest.approx(1.5)
    assert cells(row)[2:] == [
        "cache-result", "kept", "2.00 (1.90–2.10)", "2.00 (2.00–2.00)", "yes", "2.20 (1.80–2.70)",
        "1.10", "yes", "1.50", "bitwise",
    ]  # fmt: skip


@pytest.mark.parametrize(("speedup", "is_close"), [(2.29, True), (2.31, False), (1.73, False)])
def test_a_gain_is_close_up_to_15_percent(speedup: float, is_close: bool) -> None:
    assert tried(rung(speedup=speedup)).is_close is is_close


def test_the_rung_of_another_finding_is_not_that_of_the_fault() -> None:
    row = tried(rung(finding="host-code"), gain=None)
    assert not row.is_found
    assert "**not found**" in cells(row)


def test_of_several_rungs_of_the_fault_the_kept_one_counts() -> None:
    assert tried(rung("rejected", 1.0, reason="slower"), rung()).is_kept


def test_a_ceiling_cannot_be_kept_and_may_gain_more_than_the_switch() -> None:
    assert fixes.named("free-input").is_ceiling
    row = tried(rung("rejected", 9.0, fix="free-input", reason="a ceiling"))
    assert (row.is_kept, row.is_close) == (None, None)
    assert cells(row)[3] == "ceiling"
    assert scores([row])["of these only a ceiling, which is never kept"] == "1"


def test_a_fault_that_only_its_author_can_mend_is_not_held_against_the_fixes() -> None:
    row = tried(rung("skipped", None, fix=None, reason="it needs yours"), gain=None)
    assert (row.is_found, row.has_fix, row.is_kept) == (True, False, None)
    assert scores([row])["the others are kept"] == "0 of 0"


def test_a_fix_that_could_not_be_applied_counts_as_not_kept() -> None:
    row = tried(rung("skipped", None, reason="never reached"), gain=None)
    assert row.is_kept is False
    assert (row.ratio, row.is_inside, row.width) == (None, None, None)
    assert cells(row)[3] == "**skipped**: never reached"


def test_a_range_without_an_upper_end_is_infinitely_wide() -> None:
    row = tried(rung())
    assert row.rung is not None
    assert row.rung.predicted is not None
    msgspec.structs.force_setattr(row.rung.predicted, "high", None)
    assert row.is_inside
    assert row.width == math.inf
    assert "2.20 (1.80–…)" in cells(row)


def test_the_scores_count_by_what_can_be_said() -> None:
    found = scores([tried(rung()), tried(rung("rejected", 1.0, reason="no gain")), tried()])
    assert found["the known fault is found"] == "2 of 3 (67%)"
    assert found["the others are kept"] == "1 of 2 (50%)"
    assert found["measured gain within 15 % of the switch's"] == "1 of 2 (50%)"
    assert found["predicted / measured, median"] == "1.65, of 2"
    assert found["losses as the fix promises"] == "2 of 2 (100%)"


def test_whatever_is_kept_in_a_healthy_script_is_counted() -> None:
    rows = [healthy(rung(), rung("rejected", 1.0), control="rejected"), healthy(control="kept")]
    found = scores(rows)
    assert found["healthy scripts: rungs kept"] == "1 of 2 (50%)"
    assert found["healthy scripts: a fix that changes nothing is kept"] == "1 of 2 (50%)"
    assert found["the known fault is found"] == "0 of 0"
    assert cells(rows[1])[3] == "0 kept of 0; changing nothing: kept"


def test_the_page_has_no_script_of_the_held_out_set() -> None:
    text = page(
        [tried(rung())],
        [tried(rung(), folder=HELD_OUT)] * 2,
        Skipped(["jax_script"], ["jax_script", "late"]),
    )
    assert "| the others are kept | 1 of 1 (100%) | 2 of 2 (100%) |" in text
    assert text.count("| a_script |") == 1
    assert "could not be imported here: jax_script.\n" in text
    assert "Not tried yet: late.\n" in text
    assert "2026-11-18, a CPU, 2 cores" in text


def test_a_page_of_several_days_says_until_when() -> None:
    later = msgspec.structs.replace(tried(rung()), machine={**MACHINE, "date": "2026-11-19"})
    assert "to 2026-11-19; 2026-11-18" in page([later, tried(rung())], [])


def test_a_script_that_was_measured_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def measure(specimen: Specimen, effort: Effort) -> Tried:
        measured.append(specimen.name)
        return tried(rung())

    monkeypatch.setattr(trials, "_tried", measure)
    first, _ = try_all([specimen()], tmp_path, EFFORT)
    again, failures = try_all([specimen()], tmp_path, EFFORT)
    assert measured == ["a_script"]
    assert first == again == [tried(rung())]
    assert failures == []
    others = msgspec.structs.replace(specimen(), name="another")
    assert saved_rows([specimen(), others], tmp_path) == first


def test_a_script_that_failed_is_tried_again_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(specimen: Specimen, effort: Effort) -> Tried:
        raise Failed("it ended with 1: secret words")

    monkeypatch.setattr(trials, "_tried", fail)
    rows, failures = try_all([specimen(), specimen(folder=HELD_OUT)], tmp_path, EFFORT)
    assert rows == []
    assert failures == ["a_script: it ended with 1: secret words", "a_script: failed"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_said_of_a_held_out_script_is_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trials, "_tried", lambda *_: tried(rung(), folder=HELD_OUT))
    try_all([specimen(folder=HELD_OUT)], tmp_path, EFFORT)
    assert capsys.readouterr().err == "a_script\n"


def test_the_switch_is_only_measured_where_a_fix_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_switched", lambda _: GAIN.rounds[0])
    monkeypatch.setattr(trials, "_trial", lambda *_: answer(rung()))
    assert trials._tried(specimen(), EFFORT).gain == GAIN
    monkeypatch.setattr(trials, "_trial", lambda *_: answer())
    assert trials._tried(specimen(), EFFORT).gain is None


@pytest.mark.parametrize(("lost", "expected"), [((0.5, 0.0), 1.5), ((None, 0.5), 3.0)])
def test_what_other_programs_took_of_the_switchs_runs_does_not_count(
    monkeypatch: pytest.MonkeyPatch, lost: tuple[float | None, float], expected: float
) -> None:
    steps = {(): MeasuredSteps(30.0, 1.0, lost[0]), ("--fixed",): MeasuredSteps(10.0, 1.0, lost[1])}
    monkeypatch.setattr(trials, "_recorded", lambda _, *options: steps[options])
    assert trials._switched(specimen()).ratio == pytest.approx(expected)


def test_a_healthy_script_is_also_tried_with_a_fix_that_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, ...]] = []

    def trial(specimen: Specimen, effort: Effort, *options: str) -> TrialAnswer:
        asked.append(options)
        return answer()

    monkeypatch.setattr(trials, "_trial", trial)
    assert trials._tried(specimen(None), EFFORT).control == answer()
    assert asked == [(), ("--fixes", FIX.name)]
    assert fixes.named(FIX.name).name == FIX.name
