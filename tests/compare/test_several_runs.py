"""A side of several runs: what they say together, and what only several can show."""

from pathlib import Path
from typing import Any

import pytest

from build import MS
from stepscope.cli.main import main
from stepscope.compare.compare import compare_all
from stepscope.compare.side import open_side
from stepscope.errors import DataError, InputError
from stepscope.model.comparison import ComparisonAnswer
from two_runs import TRAIN, trained

NEARLY_EQUAL = (1_000, 1_003, 998, 1_001, 997)  # ms


def recorded(folder: Path, *rest_ms: int, input_ms: int = 0, text: str = TRAIN) -> str:
    """A folder with a run of each length."""
    folder.mkdir()
    for number, ms in enumerate(rest_ms):
        trained(folder / str(number), input_ms=input_ms, rest_ms=ms, text=text)
    return str(folder)


def compared(before: str, after: str) -> ComparisonAnswer:
    return compare_all([open_side(before), open_side(after)]).comparisons[0]


def three_percent_longer(ms: int) -> int:
    return round(1.03 * ms)


def test_three_percent_are_found_with_five_runs_and_not_with_one(tmp_path: Path) -> None:
    slower = [three_percent_longer(ms) for ms in NEARLY_EQUAL]
    before = recorded(tmp_path / "before", *NEARLY_EQUAL)
    after = recorded(tmp_path / "after", *slower)
    assert not compared(f"{before}/0", f"{after}/0").significant
    answer = compared(before, after)
    assert answer.significant
    assert answer.speedup == pytest.approx(1 / 1.03, rel=1e-3)
    assert answer.low < 1 / 1.03 < answer.high


def test_a_side_is_described_by_all_its_runs(tmp_path: Path) -> None:
    before = recorded(tmp_path / "before", 10, 10)
    answer = compared(before, recorded(tmp_path / "after", 4, 9, 6))
    old, new = answer.runs
    assert (old.run, old.runs, old.steps) == (before, 2, 2 * 55)
    assert (new.runs, new.steps) == (3, 3 * 55)
    assert new.step_ms.mean == pytest.approx(6.0)  # (4 · 9 · 6) ** (1 / 3)
    assert answer.speedup == pytest.approx(10 / 6)
    assert new.per_s == pytest.approx(1_000 / 6)


def test_rows_are_those_of_all_runs_and_sum_to_both_steps(tmp_path: Path) -> None:
    before = recorded(tmp_path / "before", 5, 5, input_ms=15)
    after = recorded(tmp_path / "after", 5, 5, input_ms=5)
    answer = compared(before, after)
    for what in ("phase", "function", "line"):
        rows = [row for row in answer.changes if row.what == what]
        assert sum(row.before_ns for row in rows) == pytest.approx(20 * MS), what
        assert sum(row.after_ns for row in rows) == pytest.approx(10 * MS), what
    (read,) = [row for row in answer.changes if row.name == "return numpy.load(path)"]
    assert (read.before_ns, read.after_ns) == pytest.approx((15 * MS, 5 * MS))


def test_lines_are_found_again_in_the_latest_text_of_either_side(tmp_path: Path) -> None:
    """One of the runs was recorded before blank lines moved."""
    edited = TRAIN.replace("\n\ndef read", "\ndef read").replace("\n\ndef train", "\n\n\ndef train")
    before = recorded(tmp_path / "before", 5, 5, input_ms=15)
    after = tmp_path / "after"
    after.mkdir()
    trained(after / "0", input_ms=5, rest_ms=5, text=edited, read_line=3)
    trained(after / "1", input_ms=5, rest_ms=5)
    (read,) = [row for row in compared(before, str(after)).changes if row.name == "read"]
    assert (read.before_ns, read.after_ns) == pytest.approx((15 * MS, 5 * MS))
    lines = [row for row in compared(before, str(after)).changes if row.what == "line"]
    assert [row.location.line for row in lines if row.location] == [3]


def test_a_finding_counts_if_half_of_the_runs_have_it(tmp_path: Path) -> None:
    slow_input = recorded(tmp_path / "slow", 5, 5, input_ms=15)
    once = tmp_path / "once"
    once.mkdir()
    for number, input_ms in enumerate((15, 0, 0)):
        trained(once / str(number), input_ms=input_ms, rest_ms=5)
    found = [(each.id, each.change) for each in compared(slow_input, str(once)).findings]
    assert found == [("input-bound", "gone")]


def test_runs_of_different_scripts_are_not_one_side(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name in ("train", "evaluate"):
        trained(folder / name, input_ms=5, rest_ms=5, script=f"/home/{name}.py")
    with pytest.raises(InputError, match=r"different scripts \(evaluate.py, train.py\)"):
        open_side(str(folder))


def test_machines_and_versions_within_a_side_are_named(tmp_path: Path) -> None:
    for side, versions in {"before": ("2.12", "2.13"), "after": ("2.13", "2.13")}.items():
        (tmp_path / side).mkdir()
        for number, version in enumerate(versions):
            machine = {"cpu": "Xeon", "cores": 8}
            fields: dict[str, Any] = {"versions": {"torch": version}, "machine": machine}
            trained(tmp_path / side / str(number), input_ms=5, rest_ms=5, **fields)
    answer = compared(str(tmp_path / "before"), str(tmp_path / "after"))
    said = [(each.what, each.before, each.after) for each in answer.differences]
    assert said == [("versions", "torch 2.12 or 2.13", "torch 2.13")]


def test_an_empty_folder_is_no_side(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a run folder"):
        open_side(str(tmp_path))


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_how_busy_the_machine_was_is_said_once_for_all_runs(
    form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(tmp_path / name) for name in "abc"]
    for number, run in enumerate(runs):
        trained(Path(run), input_ms=1, rest_ms=19, cpu_ms=10, without_core_ms=6 + 2 * number)
    assert main(["compare", *runs, *form]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("busy machine:") == 1
    assert "busy machine: 29 % of the time" in said
    assert "then 39 % of the time without a core or 49 % of the time" in said
