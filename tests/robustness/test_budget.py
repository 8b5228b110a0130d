"""The budget on real runs: what is thinned, what never is, and that the estimates hold."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from asking import answer as shown
from robustness.running import line_rows, record
from stepscope.analyze.run import load

PROGRAMS = Path(__file__).parent.parent / "programs"
SECONDS = "4"


def recorded(folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
    done = record(folder, "hot_loop", SECONDS, *arguments, options=["--quiet", *options])
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def by_source(run: Path) -> dict[str, dict[str, Any]]:
    return {row["source"].strip(): row for row in line_rows(run).values()}


@pytest.fixture(scope="module")
def thinned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("thinned")
    return folder / "run", recorded(folder)


def test_a_hot_loop_is_thinned_and_says_so(thinned: tuple[Path, dict[str, Any]]) -> None:
    run, _ = thinned
    rows = by_source(run)
    assert rows["total += i * i"]["estimated"]
    assert not rows["return sum(range(200_000))"]["estimated"]
    assert shown(run, "steps")["overhead"]["thinned"]


def test_the_time_of_thinned_lines_is_close_to_the_truth(
    thinned: tuple[Path, dict[str, Any]],
) -> None:
    """What other programs took falls into lines that are counted, or into those that are not."""
    run, truth = thinned
    rows, waited_ns = by_source(run), truth["without_core_ns"]
    hot = ("for i in range(n):", "total += i * i", "total ^= 3")
    inside = sum(rows[line]["ns"] for line in hot)
    hot_ns, cold_ns = truth["hot_ns"], truth["cold_ns"]
    assert inside == pytest.approx(hot_ns, abs=0.15 * hot_ns + waited_ns)
    assert rows["hot(60_000)"]["ns"] == pytest.approx(hot_ns, abs=0.15 * hot_ns + waited_ns)
    assert rows["cold()"]["ns"] == pytest.approx(cold_ns, abs=0.15 * cold_ns + waited_ns)


def test_steps_around_a_thinned_function_are_all_there(
    thinned: tuple[Path, dict[str, Any]],
) -> None:
    run, truth = thinned
    assert abs(shown(run, "steps")["steps"] - truth["steps"]) <= 1


def test_steps_in_the_function_of_the_hot_loop_are_all_there(tmp_path: Path) -> None:
    truth = recorded(tmp_path, "same")
    rows = by_source(tmp_path / "run")
    assert rows["total ^= 5"]["estimated"]
    assert abs(shown(tmp_path / "run", "steps")["steps"] - truth["steps"]) <= 1


@pytest.mark.nightly
def test_exact_never_thins(tmp_path: Path) -> None:
    truth = recorded(tmp_path, options=("--exact",))
    rows = by_source(tmp_path / "run")
    assert not any(row["estimated"] for row in rows.values())
    assert rows["total += i * i"]["hits"] == truth["steps"] * 60_000


def test_a_profiled_function_is_never_thinned(tmp_path: Path) -> None:
    truth = recorded(tmp_path, "decorated")
    rows = by_source(tmp_path / "run")
    assert not rows["total += i * i"]["estimated"]
    assert rows["total += i * i"]["hits"] == truth["steps"] * 60_000


def test_a_function_that_is_left_too_often_is_thinned(tmp_path: Path) -> None:
    """Its lines would be within the budget."""
    program = PROGRAMS / "robustness/dear_exits.py"
    subprocess.run([sys.executable, program, tmp_path / "run"], check=True, capture_output=True)
    run = load(tmp_path / "run")
    assert run.main is not None
    thinned_out = {
        run.main.names.codes[block.code_id].function
        for block in run.main.lines.blocks
        if block.is_thinned
    }
    assert "tiny" in thinned_out
    assert "quiet" not in thinned_out
