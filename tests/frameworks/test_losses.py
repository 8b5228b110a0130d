"""With --losses every loss is in the run, and the training is that of the plain run."""

import re
import sys
from pathlib import Path

import pytest

import stepscope as stepscope_package
from frameworks.running import PROGRAMS, plain, run
from frameworks.tf_runs import needs
from nights import nightly_but
from stepscope.analyze.run import load
from stepscope.analyze.steps.losses import losses

LOSSES = PROGRAMS / "losses"
DAILY = ["torch", "jax"]
NEEDED = {"trainer": "transformers"}


def with_losses(program: Path, out: Path, **environment: str) -> tuple[str, str]:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "--losses", "-o", out)
    done = run(*stepscope, program, folder=None, check=False, **environment)
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", nightly_but(DAILY, [*DAILY, "tensorflow", "lightning", "trainer"]))
def test_every_loss_is_recorded_and_the_training_is_the_same(tmp_path: Path, name: str) -> None:
    needs(NEEDED.get(name, name))
    program = LOSSES / f"with_{name}.py"
    printed = with_losses(program, tmp_path / "run")[0]
    found = load(tmp_path / "run")
    assert [value.hex() for value in losses(found).value.tolist()] == printed.split()
    assert not [note for note in found.processes[0].notes if "loss" in note]
    assert printed == plain(program)


def test_a_step_has_all_its_losses(tmp_path: Path) -> None:
    needs("torch")
    with_losses(PROGRAMS / "torch/gan.py", tmp_path / "run")
    found = losses(load(tmp_path / "run"))
    # The discriminator's update ends a step, so the generator's loss belongs to the next one.
    pairs = [step for step in range(1, 30) for _ in range(2)]
    assert found.step.tolist() == [0, *pairs, 29]
    assert found.which.tolist() == [0, *[0, 1] * 29, 2]


@pytest.mark.nightly
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_keras_has_one_loss_a_batch_on_other_backends(tmp_path: Path, backend: str) -> None:
    """None of the validation in between; torch's is the batch's own, not the mean so far."""
    needs("keras")
    needs(backend)
    program = PROGRAMS / "keras/fit_arrays.py"
    printed = with_losses(program, tmp_path / "run", KERAS_BACKEND=backend)[0].split()
    found = losses(load(tmp_path / "run"))
    assert found.step.tolist() == list(range(32))
    assert found.is_running_mean == (backend == "jax")
    is_mean = [found.value[15].hex(), found.value[31].hex()] == [printed[0], printed[2]]
    assert is_mean == found.is_running_mean


def test_without_a_framework_there_is_no_loss(tmp_path: Path) -> None:
    with_losses(PROGRAMS / "steps/counted_loop.py", tmp_path / "run")
    assert len(losses(load(tmp_path / "run"))) == 0


@pytest.mark.nightly
def test_an_error_in_backward_looks_the_same(tmp_path: Path) -> None:
    needs("torch")
    program = PROGRAMS / "torch/raising/backward.py"
    without = run(sys.executable, program, check=False)
    assert with_losses(program, tmp_path / "run") == (without.stdout, without.stderr)


@pytest.mark.nightly
def test_compiled_graphs_are_the_same_and_have_nothing_of_ours(tmp_path: Path) -> None:
    needs("torch")
    program = PROGRAMS / "torch/compiled_with_breaks.py"
    printed, logged = with_losses(program, tmp_path / "run", TORCH_LOGS="+dynamo")
    looked_at = re.findall(r"(?:start tracing|skipping:) (\w+) .*?(/\S+\.py)", logged)
    assert ("forward", str(program)) in looked_at
    ours = str(Path(stepscope_package.__file__).parent)
    assert not [name for name, file in looked_at if file.startswith(ours)]
    assert printed == plain(program)
