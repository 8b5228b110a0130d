"""The recording ends in the middle of the training, which continues as if it had not been there."""

import json
import sys
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, plain, run, show
from nights import nightly_but

CASES = [
    "torch/plain_loop", "torch/gan", "torch/scaled", "jax/with_optax", "keras/fit_arrays",
    "lightning/fit",
]  # fmt: skip
ARGUMENTS = {"lightning/fit": ("lightning.pytorch",)}


@pytest.mark.parametrize("case", nightly_but(["torch/plain_loop"], CASES))
# Inside a window, and after it.
@pytest.mark.parametrize("after", [6, pytest.param(12, marks=pytest.mark.nightly)])
def test_recording_that_stops_in_a_step_leaves_the_training_alone(
    case: str, after: int, tmp_path: Path
) -> None:
    needs.require(case.split("/")[0])
    program, arguments = PROGRAMS / f"{case}.py", ARGUMENTS.get(case, ())
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    stop = ("--stop-after", f"{after}steps")
    recorded = run(*stepscope, *stop, program, *arguments, folder=tmp_path)
    without = plain(program, *arguments, folder=tmp_path)
    assert recorded.stdout.splitlines()[-1] == without.splitlines()[-1]  # losses; bars show times
    assert json.loads(show(tmp_path / "run", "steps", "--json"))["steps"] in (after, after + 1)


EXACT = [
    "torch/plain_loop",
    "torch/gan",
    "torch/gan_five_to_one",
    "torch/gan_every_fifth",
    "torch/accumulation",
    "torch/quick_by_hand",
    "jax/with_optax",
    "keras/fit_arrays",
    "lightning/fit",
    "transformers/fit",
    "tf/eager",
    "tf/function",
    "steps/counted_loop",
    "steps/data_then_training",
]
DAILY = ["torch/plain_loop", "steps/counted_loop", "steps/data_then_training"]
EXACT_LOOPS = {"steps/data_then_training": "data_then_training.py:18"}  # fmt: skip


@pytest.mark.parametrize("case", nightly_but(DAILY, EXACT))
def test_a_run_of_eleven_steps_has_eleven(case: str, tmp_path: Path) -> None:
    framework = case.split("/")[0]
    needs.require({"tf": "tensorflow", "steps": "numpy"}.get(framework, framework))
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    program, arguments = PROGRAMS / f"{case}.py", ARGUMENTS.get(case, ())
    run(*stepscope, "--steps", "11", program, *arguments, folder=tmp_path)
    found = json.loads(show(tmp_path / "run", "steps", "--json"))
    assert found["steps"] == 11
    assert EXACT_LOOPS.get(case, "") in found["anchor"]
