"""`stepscope compare` on the command line: what it prints, and its exit status."""

import json
from pathlib import Path

import pytest

from stepscope.cli.main import main
from two_runs import trained


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """AFTER is twice as fast."""
    trained(tmp_path / "before", input_ms=15, rest_ms=5)
    trained(tmp_path / "after", input_ms=5, rest_ms=5)
    return str(tmp_path / "before"), str(tmp_path / "after")


def test_the_first_line_is_the_answer(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2.00× as fast (")
    for title in ("Phases", "Functions", "Lines", "Findings"):
        assert title in printed


def test_runs_in_files_of_one_kind_differ_by_more_than_their_ending(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = ".of-a-machine-with-a-long-name.and-a-run-of-many-hours.pt.trace.run"
    named = [str(tmp_path / f"{name}{ending}") for name in ("first", "second")]
    for before, after in zip(runs, named, strict=True):
        Path(before).rename(after)
    assert main(["compare", *named]) == 0
    printed = capsys.readouterr().out
    assert "…" not in printed.partition("What made")[0]
    assert ending not in printed


def test_json_has_the_promised_fields(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"speedup", "low", "high", "basis", "significant", "verdict", "runs", "changes"} <= set(
        answer
    )
    assert {"what", "name", "before_ns", "after_ns", "location"} <= set(answer["changes"][0])


def test_a_slow_down_fails_the_gate(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = runs
    assert main(["compare", after, before, "--fail-over", "5%"]) == 1
    assert "100.0 % slower, more than 5 %" in capsys.readouterr().err


def test_a_gain_passes_the_gate(runs: tuple[str, str]) -> None:
    assert main(["compare", *runs, "--fail-over", "5%"]) == 0


def test_a_slow_down_within_the_limit_passes(runs: tuple[str, str], tmp_path: Path) -> None:
    trained(tmp_path / "slower", input_ms=16, rest_ms=5)
    assert main(["compare", runs[0], str(tmp_path / "slower"), "--fail-over", "10%"]) == 0


def test_markdown_is_made_of_tables(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs, "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("**2.00× as fast")
    assert "| `input` | 15.0 ms | 5.00 ms | 100.0 % |" in printed


def test_several_runs_are_a_table(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs, runs[0]]) == 0
    assert "Compared with the first" in capsys.readouterr().out
    assert main(["compare", *runs, runs[0], "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 2
    assert main(["compare", *runs, runs[0], "--markdown"]) == 0
    assert capsys.readouterr().out.count("|\n") == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["only"], "Give two runs"),
        (["a", "b"], "'a' does not exist"),
        (["a", "b", "--fail-over", "much"], "'much' is not a share"),
        (["a", "b", "--json", "--markdown"], "Choose one"),
    ],
)
def test_bad_input_says_what_to_do(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *arguments]) != 0
    assert said in capsys.readouterr().err


def test_a_folder_of_runs_is_one_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, input_ms in {"before": 15, "after": 5}.items():
        (tmp_path / side).mkdir()
        for number in range(3):
            trained(tmp_path / side / str(number), input_ms=input_ms, rest_ms=5)
    sides = str(tmp_path / "before"), str(tmp_path / "after")
    page = tmp_path / "page.html"
    assert main(["compare", *sides, "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2.00× as fast (")
    assert printed.count("165 in 3 runs") == 2
    assert page.exists()
    assert main(["compare", *sides, "--markdown"]) == 0
    assert "165 in 3 runs" in capsys.readouterr().out
