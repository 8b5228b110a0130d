"""Lightning, recorded: the right steps, the same losses, and actions that add up."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, borrowed, plain, run, show
from nights import nightly_but

needs.module("lightning")

FOLDER = PROGRAMS / "lightning"
NEW, OLD = "lightning.pytorch", "pytorch_lightning"
# Program and package to its steps.
STEPS = {
    ("fit", NEW): 48,
    ("fit", OLD): 48,
    ("accumulation", NEW): 14,
    ("manual", NEW): 30,
    ("manual", OLD): 30,
    ("limits", NEW): 15,
}
SAMPLES = 64
ROW = re.compile(r"^\|  (\S.*?)\s*\|  [^|]+\|  (\d+)\s*\|", re.MULTILINE)


AT_NIGHT = {("manual", OLD), ("fit", OLD), ("accumulation", NEW)}
CASES = [
    pytest.param(case, marks=pytest.mark.nightly if case in AT_NIGHT else (), id="-".join(case))
    for case in STEPS
]


class Runs(dict[tuple[str, str], tuple[Path, str]]):
    """Each recorded when first needed: its folder, and what it printed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, case: tuple[str, str]) -> tuple[Path, str]:
        name, package = case
        out = self._folder / f"{name}-{package}"
        self[case] = out, recorded(FOLDER / f"{name}.py", out, package)
        return self[case]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


def recorded(program: Path, out: Path, *arguments: str) -> str:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out)
    return run(*stepscope, program, *arguments).stdout


def losses(printed: str) -> list[str]:
    found = [line for line in printed.splitlines() if line.startswith("0x")]
    assert len(found) >= 15
    return found


def steps_of(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(folder, "steps", "--each", "--json"))
    return answer


def actions_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(show(folder, "actions", "--json"))["actions"]
    return rows


@pytest.mark.parametrize("case", CASES)
def test_the_right_number_of_steps(runs: Runs, case: tuple[str, str]) -> None:
    answer = steps_of(runs[case][0])
    assert (answer["steps"], answer["anchor"]) == (STEPS[case], "batches of Lightning")


@pytest.mark.parametrize("case", CASES)
def test_phases_sum_to_each_step(runs: Runs, case: tuple[str, str]) -> None:
    for step in steps_of(runs[case][0])["each"]:
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


@pytest.mark.parametrize("case", nightly_but([("fit", NEW), ("manual", NEW)], STEPS))
def test_the_losses_are_those_of_the_plain_run(runs: Runs, case: tuple[str, str]) -> None:
    name, package = case
    assert losses(runs[case][1]) == losses(plain(FOLDER / f"{name}.py", package))


def test_samples_are_those_of_the_batches(
    runs: Runs,
) -> None:
    for case in (("fit", NEW), ("manual", NEW), ("limits", NEW)):
        rate = steps_of(runs[case][0])["rate"]
        assert rate["samples_per_s"] == pytest.approx(SAMPLES * rate["per_s"])


@pytest.mark.parametrize("package", nightly_but([NEW], [NEW, OLD]))
def test_saving_logging_and_the_passes_are_phases(runs: Runs, package: str) -> None:
    answer = steps_of(runs["fit", package][0])
    categories = {row["category"] for row in answer["breakdown"]}
    passes = {"input", "forward", "backward", "optimizer"}
    assert passes | {"evaluation", "checkpoint", "logging"} <= categories


def test_waiting_for_a_loader_that_is_none_of_torchs_is_input(
    runs: Runs,
) -> None:
    for step in steps_of(runs["limits", NEW][0])["each"][1:]:
        assert step["phases"]["input"] > 0


def test_actions_nest_as_they_happened_and_add_up(
    runs: Runs,
) -> None:
    rows = actions_of(runs["fit", NEW][0])
    calls = {(row["depth"], row["name"]): row["calls"] for row in rows}
    assert calls[0, "run_training_epoch"] == 2
    assert calls[1, "run_training_batch"] == 48
    assert calls[2, "[LightningModule]Classifier.optimizer_step"] == 48
    assert calls[3, "[Strategy]SingleDeviceStrategy.training_step"] == 48
    assert calls[1, "[Strategy]SingleDeviceStrategy.validation_step"] == 12
    assert calls[0, "[Strategy]SingleDeviceStrategy.validation_step"] == 2  # the sanity check
    assert calls[0, "[Strategy]SingleDeviceStrategy.test_step"] == 5
    assert calls[0, "[Strategy]SingleDeviceStrategy.predict_step"] == 5
    for index, row in enumerate(rows):
        inner = 0
        for below in rows[index + 1 :]:
            if below["depth"] <= row["depth"]:
                break
            inner += below["total_ns"] if below["depth"] == row["depth"] + 1 else 0
        assert row["total_ns"] == row["self_ns"] + inner


@pytest.mark.nightly
def test_a_profiler_of_the_scripts_works_on_and_is_seen(tmp_path: Path) -> None:
    """Its own report has the same calls as ours, and the same as without us."""
    program, arguments = FOLDER / "chosen_profiler.py", (NEW, "lightning", "simple")
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    ours = run(*stepscope, program, *arguments)
    alone = run(sys.executable, program, *arguments)
    reported = dict(ROW.findall(ours.stderr))
    assert reported == dict(ROW.findall(alone.stderr))
    assert losses(ours.stdout) == losses(alone.stdout)
    seen: dict[str, int] = {}
    for row in actions_of(tmp_path / "run"):
        seen[row["name"]] = seen.get(row["name"], 0) + row["calls"]
    assert seen == {name: int(calls) for name, calls in reported.items() if name != "Total"}
    assert steps_of(tmp_path / "run")["steps"] == 24


@pytest.mark.nightly
def test_an_error_in_a_step_is_the_scripts_own_and_the_report_names_it(tmp_path: Path) -> None:
    program = FOLDER / "raises.py"
    stepscope = (sys.executable, "-m", "stepscope", "run", "-o", tmp_path / "run")
    library = borrowed(tmp_path, "def refuse(why):\n    raise ValueError(why)\n")
    ours = run(*stepscope, program, NEW, check=False, PYTHONPATH=library)
    alone = run(sys.executable, program, NEW, check=False, PYTHONPATH=library)
    assert (ours.returncode, ours.stdout) == (alone.returncode, alone.stdout)
    assert alone.stderr.rstrip().endswith("ValueError: a bad batch")
    assert ours.stderr.startswith(alone.stderr)
    report = " ".join(ours.stderr.removeprefix(alone.stderr).split())
    assert "ended with exit status 1" in report
    assert "The training ended with ValueError: a bad batch, in Failing.training_step" in report
    assert "raises.py:10" in report
    assert steps_of(tmp_path / "run")["steps"] == 7


def test_nothing_of_it_is_left_in_lightning_when_recording_stops() -> None:
    assert plain(FOLDER / "records_a_block.py", NEW) == "nothing is left\n"
