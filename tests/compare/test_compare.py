"""Two runs compared: on runs whose difference can be counted on fingers."""

from pathlib import Path
from typing import Any

import pytest

import needs
from build import MS, RunBuilder
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import load_any
from stepscope.compare.compare import compare, compare_all
from stepscope.compare.side import side_of
from stepscope.compare.verdict import BY_SAMPLE, BY_STEP
from stepscope.errors import InputError
from stepscope.model.comparison import Change, ComparisonAnswer
from two_runs import TRAIN, trained


def rows(answer: ComparisonAnswer, what: str) -> dict[str, tuple[float, float]]:
    found = [row for row in answer.changes if row.what == what]
    return {row.name: (round(row.before_ns / MS, 3), round(row.after_ns / MS, 3)) for row in found}


def sums(found: list[Change]) -> tuple[float, float]:
    return sum(row.before_ns for row in found), sum(row.after_ns for row in found)


def test_half_the_step_is_twice_as_fast(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    after = trained(tmp_path / "b", input_ms=5, rest_ms=5)
    answer = compare(before, after)
    assert answer.speedup == pytest.approx(2.0)
    assert answer.significant
    assert answer.low <= 2.0 <= answer.high
    assert answer.basis == BY_STEP
    assert "2.00× as fast" in answer.verdict
    assert "input takes 10.0 ms less in read (train.py:4)" in answer.verdict
    assert [run.step_ms.mean for run in answer.runs] == [20.0, 10.0]


def test_every_kind_of_row_sums_to_both_steps_and_shares_to_one(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    after = trained(tmp_path / "b", input_ms=5, rest_ms=7)
    answer = compare(before, after)
    for what in ("phase", "function", "line"):
        found = [row for row in answer.changes if row.what == what]
        assert sums(found) == pytest.approx((20 * MS, 12 * MS)), what
        assert sum(row.share or 0.0 for row in found) == pytest.approx(1.0), what


def test_rows_name_the_function_and_the_line_that_changed(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    after = trained(tmp_path / "b", input_ms=5, rest_ms=5)
    answer = compare(before, after)
    assert rows(answer, "phase")["input"] == (15.0, 5.0)
    assert rows(answer, "function")["read"] == pytest.approx((15.0, 5.0))
    assert rows(answer, "line")["return numpy.load(path)"] == pytest.approx((15.0, 5.0))


def test_a_line_is_found_again_after_an_edit_above_it(tmp_path: Path) -> None:
    edited = TRAIN.replace("import numpy", "import functools\nimport numpy").replace(
        "def read", "@functools.cache\ndef read"
    )
    before = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    after = trained(tmp_path / "b", input_ms=5, rest_ms=5, text=edited, read_line=6)
    answer = compare(before, after)
    (row,) = [row for row in answer.changes if row.name == "return numpy.load(path)"]
    assert (row.before_ns, row.after_ns) == pytest.approx((15 * MS, 5 * MS))
    assert row.location is not None
    assert row.location.line == 6


def test_another_batch_size_is_compared_by_sample(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=5, rest_ms=5, samples=10)
    after = trained(tmp_path / "b", input_ms=5, rest_ms=10, samples=20)
    answer = compare(before, after)
    assert answer.basis == BY_SAMPLE
    assert answer.speedup == pytest.approx(20 / 15)
    assert rows(answer, "phase")["input"] == (0.5, 0.25)
    assert [each.what for each in answer.differences] == ["batch size"]


def test_what_another_program_took_is_not_the_scripts_own(tmp_path: Path) -> None:
    quiet = trained(tmp_path / "a", input_ms=1, rest_ms=9, cpu_ms=10)
    busy = trained(tmp_path / "b", input_ms=1, rest_ms=19, cpu_ms=10, without_core_ms=10)
    answer = compare(quiet, busy)
    assert answer.speedup == pytest.approx(0.5)
    assert answer.cpu is not None
    assert answer.cpu.speedup == pytest.approx(1.0, abs=0.02)
    assert not answer.significant
    assert "busy machine" in answer.verdict
    assert [each.what for each in answer.differences] == ["busy machine"]
    assert answer.notes == []  # it is not said twice


def test_twice_the_work_is_found_on_a_busy_machine_too(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=1, rest_ms=19, cpu_ms=10, without_core_ms=10)
    after = trained(tmp_path / "b", input_ms=1, rest_ms=39, cpu_ms=20, without_core_ms=20)
    answer = compare(before, after)
    assert answer.significant
    assert answer.cpu is not None
    assert answer.cpu.speedup == pytest.approx(0.5, abs=0.02)


def test_cpu_time_decides_where_the_clock_of_a_busy_machine_shows_nothing(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=1, rest_ms=39, cpu_ms=10, without_core_ms=30)
    after = trained(tmp_path / "b", input_ms=1, rest_ms=39, cpu_ms=20, without_core_ms=20)
    answer = compare(before, after)
    assert answer.speedup == pytest.approx(1.0)
    assert answer.significant
    assert answer.decisive == pytest.approx(0.5, abs=0.02)
    assert "slower" in answer.verdict
    assert "on CPU time" in answer.verdict


def test_a_thread_that_waits_is_judged_by_its_wall_time(tmp_path: Path) -> None:
    """Its CPU time would call a longer wait no difference at all."""
    before = trained(tmp_path / "a", input_ms=9, rest_ms=1, cpu_ms=1, without_core_ms=3)
    after = trained(tmp_path / "b", input_ms=29, rest_ms=1, cpu_ms=1, without_core_ms=9)
    assert compare(before, after).significant


def test_the_same_run_is_not_different(tmp_path: Path) -> None:
    run = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    answer = compare(run, run)
    assert answer.speedup == 1.0
    assert not answer.significant
    assert "No difference beyond noise" in answer.verdict
    assert all(row.share is None for row in answer.changes)


def test_another_script_is_named_and_an_edited_one_is_not(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=8, rest_ms=8)
    edited = TRAIN.replace("import numpy\n", "import functools\nimport numpy\n")
    other = "\n".join(f"print({number} ** {number})" for number in range(9))
    for name, text, expected in (("b", edited, []), ("c", other, ["script"])):
        after = trained(tmp_path / name, input_ms=8, rest_ms=8, text=text)
        assert [each.what for each in compare(before, after).differences] == expected


def test_versions_and_machine_that_differ_are_named(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"versions": {"torch": "2.12"}, "machine": {"cpu": "Xeon", "cores": 8}}
    before = trained(tmp_path / "a", input_ms=5, rest_ms=5, **fields)
    fields = {"versions": {"torch": "2.13"}, "machine": {"cpu": "Epyc", "cores": 64}}
    after = trained(tmp_path / "b", input_ms=5, rest_ms=5, **fields)
    found = {each.what: (each.before, each.after) for each in compare(before, after).differences}
    assert found["versions"] == ("torch 2.12", "torch 2.13")
    assert found["machine"] == ("Xeon, 8 cores", "Epyc, 64 cores")


def test_a_finding_that_went_away_is_listed(tmp_path: Path) -> None:
    before = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    after = trained(tmp_path / "b", input_ms=0, rest_ms=5)
    gone = [each.id for each in compare(before, after).findings if each.change == "gone"]
    assert gone == ["input-bound"]


def test_several_runs_are_each_compared_with_the_first(tmp_path: Path) -> None:
    made = [trained(tmp_path / name, input_ms=ms, rest_ms=5) for name, ms in
            (("a", 15), ("b", 5), ("c", 35))]  # fmt: skip
    answer = compare_all([side_of(run) for run in made])
    assert len(answer.runs) == 3
    assert [each.speedup for each in answer.comparisons] == pytest.approx([2.0, 0.5])


def test_a_run_without_steps_is_refused_by_name(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "none")
    builder.process().write(MS)
    run = trained(tmp_path / "a", input_ms=15, rest_ms=5)
    with pytest.raises(InputError, match="none' cannot be compared"):
        compare(run, load(tmp_path / "none"))


def test_real_traces_name_the_loader() -> None:
    """A V100 without and with loader workers."""
    names = [f"torch_v100_resnet50_workers{n}.pt.trace.json.gz" for n in (0, 4)]
    answer = compare(*(load_any(needs.trace(name)) for name in names))
    assert rows(answer, "phase")["Input"] == (59.263, 1.188)
    assert "Input takes 58.1 ms less" in answer.verdict
    operators = rows(answer, "op")
    loader = next(name for name in operators if "DataLoader" in name)
    assert operators[loader] == pytest.approx((45.5, 0.0), abs=0.1)
