"""`with stepscope.Profiler(...)` around a block, and the marks inside it."""

import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from asking import answer as show
from stepscope.errors import InputError

PROGRAM = Path(__file__).parents[1] / "programs" / "profiler_block.py"


def hits(run: Path, function: str) -> dict[int, int]:
    functions = show(run, "lines")["functions"]
    return {
        row["line"]: row["hits"]
        for entry in functions
        if entry["function"] == function
        for row in entry["lines"]
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("profiler")
    first, second = folder / "first", folder / "second"
    command = [sys.executable, str(PROGRAM), str(first), str(second)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == str(second)
    assert ended.stderr == ""
    return first, second


def test_only_the_block_is_recorded(runs: tuple[Path, Path]) -> None:
    first, second = runs
    assert hits(first, "work") == {9: 2, 10: 7 + 3 + 2, 11: 7 + 3, 12: 2}
    assert hits(second, "work") == {9: 1, 10: 6, 11: 5, 12: 1}


def test_a_decorated_function_is_recorded_by_a_profiler_that_comes_later(
    runs: tuple[Path, Path],
) -> None:
    assert sum(hits(runs[0], "decorated").values()) == 1


def test_regions_nest(runs: tuple[Path, Path]) -> None:
    outer, inner = sorted(show(runs[0], "regions")["regions"], key=lambda row: row["depth"])
    assert (outer["name"], outer["depth"], outer["calls"]) == ("outer", 0, 1)
    assert (inner["name"], inner["depth"], inner["parent"]) == ("inner", 1, "outer")
    assert outer["total_ns"] >= inner["total_ns"]
    assert outer["self_ns"] == outer["total_ns"] - inner["total_ns"]


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="colour"):
        stepscope.Profiler(colour="red")


def test_marks_are_free_when_nothing_records() -> None:
    with stepscope.region("nothing"):
        stepscope.step()
    assert list(stepscope.steps([1, 2, 3])) == [1, 2, 3]

    @stepscope.region("nothing")
    def double(number: int) -> int:
        return 2 * number

    @stepscope.profile
    def triple(number: int) -> int:
        return 3 * number

    assert (double(2), triple(2)) == (4, 6)
    assert double.__name__ == "double"
