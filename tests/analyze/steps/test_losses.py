"""The losses of a run: which step each belongs to, and what is not there."""

import math
from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.analyze.steps.losses import losses


@pytest.fixture
def process(tmp_path: Path) -> ProcessBuilder:
    return RunBuilder(tmp_path / "run").process()


def test_a_loss_belongs_to_the_step_that_ends_after_it(
    tmp_path: Path, process: ProcessBuilder
) -> None:
    """Those that were read later are in the file later."""
    process.step(0, begins=True)
    for number in (1, 2, 3):
        process.step(number * 10 * MS)
    process.loss(25 * MS, 0.25)
    process.loss(5 * MS, 1.0)
    process.loss(15 * MS, 0.5)
    process.write()
    found = losses(load(tmp_path / "run"))
    assert found.value.tolist() == [1.0, 0.5, 0.25]
    assert found.step.tolist() == [0, 1, 2]
    assert found.which.tolist() == [0, 0, 0]
    assert not found.is_running_mean


def test_several_losses_of_a_step_are_numbered(tmp_path: Path, process: ProcessBuilder) -> None:
    process.step(0, begins=True)
    for number in (1, 2):
        process.loss(number * 10 * MS - 4 * MS, 0.1)
        process.loss(number * 10 * MS - 2 * MS, 0.2)
        process.step(number * 10 * MS)
    process.write()
    found = losses(load(tmp_path / "run"))
    assert list(zip(found.step.tolist(), found.which.tolist(), strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip


def test_without_steps_each_loss_counts_as_one(tmp_path: Path, process: ProcessBuilder) -> None:
    for number in range(3):
        process.loss(number * MS, float(number), is_running_mean=True)
    process.write()
    found = losses(load(tmp_path / "run"))
    assert found.step.tolist() == [0, 1, 2]
    assert found.is_running_mean


def test_every_value_is_kept_to_the_last_bit(tmp_path: Path, process: ProcessBuilder) -> None:
    values = [0.1, -0.0, 5e-324, math.inf, math.nan]
    for number, value in enumerate(values):
        process.loss(number * MS, value)
    process.write()
    found = losses(load(tmp_path / "run")).value.tolist()
    assert [value.hex() for value in found] == [value.hex() for value in values]


def test_a_run_without_losses_has_none(tmp_path: Path, process: ProcessBuilder) -> None:
    process.step(5 * MS)
    process.write()
    assert len(losses(load(tmp_path / "run"))) == 0
    empty = RunBuilder(tmp_path / "empty")
    assert len(losses(load(empty.path))) == 0


def test_an_event_of_a_kind_that_is_not_known_changes_no_answer(tmp_path: Path) -> None:
    """As a reader sees losses that was written before there were any."""
    answers = []
    for name, has_more in (("without", False), ("with", True)):
        process = RunBuilder(tmp_path / name).process()
        process.step(0, begins=True)
        for number in range(1, 21):
            process.step(number * 5 * MS)
            if has_more:
                process.unknown_event(number * 5 * MS - MS)
        process.write()
        run = load(tmp_path / name)
        assert not run.processes[0].notes
        answers.append(steps(run, each=True))
    assert answers[0] == answers[1]
