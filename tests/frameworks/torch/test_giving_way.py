"""The script's own profiler works as without us, whenever it begins; we take over its trace."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, run, show
from nights import nightly_but

needs.module("torch")

PROGRAM = PROGRAMS / "torch_ops/profiles_itself.py"
WAYS = ("all", "schedule", "middle", "autograd", "raises", "exits")


class Both(dict[str, tuple[Any, Any, Path]]):
    """For each way, when first needed: the result alone, the result recorded, and the folder of
    both."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, way: str) -> tuple[Any, Any, Path]:
        folder = self._folder / way
        for name in ("alone", "recorded"):
            (folder / name).mkdir(parents=True)
        alone = run(sys.executable, PROGRAM, way, folder / "alone", check=False)
        command = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", folder / "run")
        recorded = run(*command, PROGRAM, way, folder / "recorded", check=False)
        self[way] = alone, recorded, folder
        return self[way]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("both"))


def without_times(text: str) -> str:
    """Kineto says when it starts and stops, with the time and the process's number."""
    return re.sub(r"[\d:. -]+", "", text)


@pytest.mark.parametrize("way", nightly_but(["all"], WAYS))
def test_the_script_sees_no_difference(both: Both, way: str) -> None:
    alone, recorded, folder = both[way]
    assert recorded.returncode == alone.returncode == (3 if way == "exits" else 0)
    assert recorded.stdout == alone.stdout
    assert without_times(recorded.stderr) == without_times(alone.stderr)
    kinds = [sorted(p.suffix for p in (folder / name).iterdir()) for name in ("alone", "recorded")]
    assert kinds[0] == kinds[1]


def test_its_trace_gives_the_same_figures_as_its_own_tables(
    both: Both,
) -> None:
    """To the nanosecond and byte, by name and by shape."""
    folder = both["all"][2]
    theirs = json.loads((folder / "recorded/averages.json").read_text())
    for by in ("name", "shape"):
        answer = json.loads(show(folder / "run", "ops", "--json", "--by", by))
        ours = [
            [row["name"], row["calls"], row["self_cpu_ns"], row["total_cpu_ns"],
             row["self_cpu_bytes"]]
            for row in answer["ops"]
        ]  # fmt: skip
        assert sorted(ours) == theirs[by]
        assert [window["of_script"] for window in answer["windows"]] == [True]


def test_its_operators_are_on_lines_too(both: Both) -> None:
    answer = json.loads(show(both["all"][2] / "run", "ops", "--json"))
    rows = {row["name"]: row for row in answer["ops"]}
    source = PROGRAM.read_text().split("\n")
    assert "model(images)" in source[rows["aten::addmm"]["location"]["line"] - 1]
    assert "optimizer.step()" in source[rows["aten::addcdiv_"]["location"]["line"] - 1]


@pytest.mark.parametrize(
    ("way", "of_script"),
    [
        ("schedule", [True, True]),
        pytest.param("middle", [True], marks=pytest.mark.nightly),
        pytest.param("raises", [False], marks=pytest.mark.nightly),
    ],
)
def test_whose_windows_are_left(both: Both, way: str, of_script: list[bool]) -> None:
    """An exported trace is taken over; without one our own window opens afterwards."""
    answer = json.loads(show(both[way][2] / "run", "ops", "--json"))
    assert [window["of_script"] for window in answer["windows"]] == of_script
    assert answer["ops"]
    assert not [note for note in answer["notes"] if "not recorded" in note]
