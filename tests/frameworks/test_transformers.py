"""Hugging Face's Trainer and Accelerate, recorded."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, plain, run, show

needs.module("transformers")
needs.module("accelerate")

FIT = PROGRAMS / "transformers/fit.py"
OWN_LOOP = PROGRAMS / "transformers/with_accelerate.py"
STEPSCOPE = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o")


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The run, and what it printed."""
    out = tmp_path_factory.mktemp("runs") / "fit"
    return out, run(*STEPSCOPE, out, FIT).stdout


def losses(printed: str) -> list[str]:
    """Without times."""
    return [line for line in printed.splitlines() if not line.startswith("{")]


def steps_of(folder: Path, *options: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(folder, "steps", "--each", "--json", *options))
    return answer


def test_a_step_is_one_of_the_optimizer(fit: tuple[Path, str]) -> None:
    """Three batches are accumulated, and evaluation between steps does not count."""
    answer = steps_of(fit[0])
    assert (answer["steps"], answer["anchor"]) == (18, "batches of Hugging Face's Trainer")


def test_losses_and_the_list_of_callbacks_are_those_of_the_plain_run(
    fit: tuple[Path, str],
) -> None:
    alone = losses(plain(FIT))
    assert len(alone) == 18 + 2
    assert losses(fit[1]) == alone


def test_evaluation_saving_and_logging_are_phases(fit: tuple[Path, str]) -> None:
    answer = steps_of(fit[0])
    evaluated = [step["phases"].get("evaluation", 0) > 0 for step in answer["each"]]
    saved = [step["phases"].get("checkpoint", 0) > 0 for step in answer["each"]]
    assert [number for number, has in enumerate(evaluated) if has] == [6, 12]
    assert [number for number, has in enumerate(saved) if has] == [9]
    assert all(step["phases"]["logging"] > 0 for step in answer["each"][1:])


def test_phases_sum_to_each_step(fit: tuple[Path, str]) -> None:
    for step in steps_of(fit[0])["each"]:
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


def test_a_loop_with_accelerate_has_the_steps_of_its_optimizer(tmp_path: Path) -> None:
    printed = run(*STEPSCOPE, tmp_path / "run", OWN_LOOP).stdout
    assert printed == plain(OWN_LOOP)
    assert steps_of(tmp_path / "run")["steps"] == 20


@pytest.mark.nightly
def test_accelerate_launch_may_start_stepscope(tmp_path: Path) -> None:
    launch = (sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1")
    run(*launch, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run", OWN_LOOP)
    assert steps_of(tmp_path / "run")["steps"] == 20


@pytest.mark.nightly
def test_stepscope_may_start_accelerate_launch(tmp_path: Path) -> None:
    """The launcher is recorded, and the process that it starts."""
    command = shutil.which("accelerate", path=str(Path(sys.executable).parent))
    assert command is not None
    launch = (command, "launch", "--cpu", "--num_processes", "1", OWN_LOOP)
    run(*STEPSCOPE, tmp_path / "run", *launch)
    processes = json.loads(show(tmp_path / "run", "processes", "--json"))["processes"]
    pids = {
        json.loads(path.read_text())["pid"] for path in tmp_path.glob("run/proc-*/process.json")
    }
    assert len(processes) == len(pids) == 2
    steps = {steps_of(tmp_path / "run", "--process", str(pid))["steps"] for pid in pids}
    assert steps == {0, 20}
