"""`stepscope.keras.Callback`: which batches it records, where to, and what it says."""

import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, run
from frameworks.tf_runs import categories, steps_of

needs.require("keras")
needs.require("tensorflow")

PROGRAM = PROGRAMS / "keras/with_callback.py"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("logs")
    return run(sys.executable, PROGRAM, folder), folder


def test_it_warns_of_the_first_batch_and_refuses_what_is_no_range(done: tuple[Any, Path]) -> None:
    said = done[0].stdout.splitlines()
    assert "includes the first batch" in said[0]
    assert all("is not a batch range" in line for line in said[1:5])


def test_it_records_the_batches_it_was_asked_for(done: tuple[Any, Path]) -> None:
    """From the second of the first epoch to the fourth of the second."""
    (folder,) = done[1].glob("stepscope-*")
    answer = steps_of(folder)
    assert answer["steps"] == 19
    assert answer["anchor"] == "batches of Keras"
    assert "compute" in categories(folder)
    assert str(folder) in done[0].stderr


def test_tensorboard_finds_the_operators(done: tuple[Any, Path]) -> None:
    (folder,) = done[1].glob("stepscope-*")
    (trace,) = (done[1] / "plugins/profile" / folder.name).glob("*.xplane.pb")
    (ours,) = folder.glob("proc-*/ops-1.xplane.pb")
    assert trace.read_bytes() == ours.read_bytes()


@pytest.mark.nightly
def test_it_is_one_for_tf_keras_too(tmp_path: Path) -> None:
    run(sys.executable, PROGRAM, tmp_path, check=True, KERAS_PACKAGE="tf_keras")
    (folder,) = tmp_path.glob("stepscope-*")
    assert steps_of(folder)["steps"] == 19
    assert list((tmp_path / "plugins/profile" / folder.name).glob("*.xplane.pb"))


@pytest.mark.nightly
def test_inside_a_recorded_run_it_leaves_everything_to_that(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    beside = run(*command, PROGRAM, tmp_path / "logs")
    assert not list((tmp_path / "logs").glob("**/*.xplane.pb"))
    assert steps_of(tmp_path / "run")["steps"] == 32
    assert "includes the first batch" in beside.stdout
