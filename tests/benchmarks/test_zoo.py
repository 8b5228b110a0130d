"""The zoo's scripts describe themselves, and its runner counts what is right."""

import math
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks.zoo.__main__ import judge_all, wanted_specimens
from benchmarks.zoo.measure import Finding, Findings, Gain, Location, Round, Speedup, settled_steps
from benchmarks.zoo.results import Judged, cells, page, summary
from benchmarks.zoo.specimens import HELD_OUT, Specimen, specimens

ALL = wanted_specimens([], only_held_out=False)
FAST = ["numpy_reload_archive", "healthy_numpy_mlp"]
GAIN = Gain([Round(0.030, 0.015)] * 3)


def finding(
    name: str, function: str | None, expected: float, low: float, high: float | None
) -> Finding:
    return Finding(name, "…", Location("train.py", 3, function), Speedup(expected, low, high))


def judged(known: str | None, *found: Finding, gain: Gain | None = GAIN) -> Judged:
    specimen = Specimen("a_script", known, ["load", "read"] if known else [], "numpy")
    return Judged(specimen, Findings("…", list(found)), gain)


def test_every_script_says_which_fault_it_has() -> None:
    scripts = specimens([])
    assert len(scripts) >= 40
    assert len([script for script in scripts if script.id is None]) >= 8
    assert len({script.id for script in scripts}) >= 17


def test_the_held_out_scripts_have_every_fault_of_the_known_ones() -> None:
    scripts = specimens([], HELD_OUT)
    assert len(scripts) >= 24
    assert len([script for script in scripts if script.id is None]) >= 6
    assert {script.id for script in scripts} >= {script.id for script in specimens([])}


def test_no_two_scripts_have_one_name() -> None:
    assert len({script.name for script in ALL}) == len(ALL)


def test_a_held_out_script_is_found_only_when_asked_for() -> None:
    name = specimens([], HELD_OUT)[0].name
    assert [script.name for script in wanted_specimens([name], only_held_out=True)] == [name]
    with pytest.raises(ValueError, match=f"No script {name}"):
        wanted_specimens([name], only_held_out=False)


@pytest.mark.parametrize("script", ALL, ids=lambda script: str(script.name))
def test_a_script_has_the_functions_that_it_blames(script: Specimen) -> None:
    text = script.path.read_text()
    assert "--fixed" in text
    text += "".join(path.read_text() for path in script.path.parent.glob("loops/*.py"))
    names = {name.rpartition(".")[2] for name in script.function}
    assert not [name for name in names if f"def {name}(" not in text and name[0] != "<"]


def test_an_unknown_script_is_named() -> None:
    with pytest.raises(ValueError, match="No script numpy_nothing"):
        specimens(["numpy_nothing"])


def test_the_first_fifth_of_the_steps_does_not_count() -> None:
    assert settled_steps([float(n) for n in range(10)]) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_gain_is_that_of_the_quietest_runs() -> None:
    gain = Gain([Round(0.030, 0.015), Round(0.021, 0.010), Round(0.020, 0.016)])
    assert (gain.low, gain.ratio, gain.high) == pytest.approx((1.25, 2.0, 2.1))
    assert gain.step_ms == pytest.approx(20)


def test_a_right_finding_counts_as_right() -> None:
    row = judged("repeated-load", finding("repeated-load", "load", 2.2, 1.8, 2.5))
    assert row.top_is_right
    assert row.function_is_right
    assert row.is_inside
    assert row.error == pytest.approx(math.log(1.1))


def test_a_right_finding_that_is_not_on_top_still_predicts() -> None:
    other = finding("host-code", "train", 3.0, 2.5, 3.5)
    row = judged("repeated-load", other, finding("repeated-load", "load", 3.0, 2.5, 3.5))
    assert not row.top_is_right
    assert row.function_is_right is False
    assert row.is_inside is False
    assert "**host-code**" in cells(row)


def test_a_range_without_an_upper_end_holds_every_larger_gain() -> None:
    row = judged("repeated-load", finding("repeated-load", "load", 1.9, 1.8, None))
    assert row.is_inside
    assert "1.90 [1.80, …]" in cells(row)
    row = judged("repeated-load", finding("repeated-load", "load", 3.0, 2.5, None))
    assert row.is_inside is False


def test_what_was_not_found_is_wrong_and_predicts_nothing() -> None:
    row = judged("repeated-load")
    assert not row.top_is_right
    assert row.is_inside is None
    assert "**nothing**" in cells(row)


def test_every_finding_in_a_healthy_script_is_a_false_alarm() -> None:
    alarm = finding("host-code", "train", 1.2, 1.1, 1.3)
    rows = [judged(None, alarm, alarm, gain=None), judged(None, gain=None)]
    assert "false alarms: 2 in 2 healthy scripts" in summary(rows)


def test_the_summary_counts_by_what_can_be_said() -> None:
    right = judged("repeated-load", finding("repeated-load", "read", 2.0, 1.8, 2.2))
    text = summary([right, judged("repeated-load")])
    assert "right top finding: 1 of 2 (50%)" in text
    assert "inside the predicted range: 1 of 1 (100%)" in text


def test_the_page_has_the_scores_of_both_sets_side_by_side() -> None:
    right = judged("repeated-load", finding("repeated-load", "read", 2.0, 1.8, 2.2))
    text = page([right, judged("repeated-load")], [right], skipped=["jax_script"])
    assert "| right top finding | 1 of 2 (50%) | 1 of 1 (100%) |" in text
    assert "| measured gain inside the predicted range | 1 of 1 (100%) | 1 of 1 (100%) |" in text
    assert "could not be imported here: jax_script" in text
    assert text.count("| a_script |") == 3


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert "| median \\|log(predicted / measured)\\| |" in page([], [], skipped=[])


def test_a_script_writes_its_step_times_only_when_asked(tmp_path: Path) -> None:
    script = specimens(FAST[:1])[0]
    command = [sys.executable, str(script.path), "--fixed", "--steps", "12"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pictures.npz"]


@pytest.mark.nightly
def test_the_runner_judges_recorded_scripts(tmp_path: Path) -> None:
    """One plain round would do to prove it, but costs seconds: the gain is given."""
    for name in FAST[:1]:
        (tmp_path / f"{name}.gain.json").write_bytes(msgspec.json.encode(GAIN))
    rows, failures = judge_all(specimens(FAST), tmp_path, rounds=3)
    assert failures == []
    assert [row.specimen.name for row in rows] == FAST
    assert rows[0].top is not None
    assert rows[0].top.id == "repeated-load"
    assert rows[0].gain == GAIN
