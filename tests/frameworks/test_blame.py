"""Headline, findings and breakdown blame the same, on real trainings."""

from pathlib import Path

import pytest

import needs
from busy import busy_processes
from frameworks.running import PROGRAMS, record
from nights import nightly_but
from stepscope.advise.findings import findings
from stepscope.analyze.answers.headline import headline, most_of_each_step
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.answers.run_parts import parts
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.model.findings import Finding
from stepscope.store.reader import Run

needs.require("torch")


def shares(run: Run) -> dict[str, float]:
    answer = steps(run)
    found = {each.category: each.share for each in answer.breakdown or []}
    assert sum(found.values()) == pytest.approx(1)
    return found


def the(id: str, run: Run) -> Finding:
    found = [each for each in findings(run).findings if each.id == id]
    assert len(found) == 1, findings(run)
    return found[0]


# --- files, logging, input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("InFunction", "table"),
        pytest.param("Inline", "Inline.forward", marks=pytest.mark.nightly),
    ],
)
def test_a_file_read_in_the_forward_pass_is_the_same_in_every_view(
    kind: str, function: str, tmp_path: Path
) -> None:
    program = PROGRAMS / "torch" / "reads_in_forward.py"
    run = load(record(program, tmp_path / "run", arguments=(kind,)))
    found, blamed = shares(run), the("repeated-load", run)
    assert blamed.location is not None
    assert blamed.location.function == function
    assert found["files"] == pytest.approx(blamed.share, abs=0.03)
    assert max(found, key=lambda name: found[name]) == "files"
    assert "table.npz" in headline(summary(run), findings(run)).words
    assert "reading or writing files" in most_of_each_step(steps(run))


def test_it_is_the_same_in_every_view_beside_four_busy_processes(tmp_path: Path) -> None:
    program = PROGRAMS / "torch" / "reads_in_forward.py"
    with busy_processes(4):
        path = record(program, tmp_path / "run", "--ops", "off", arguments=("InFunction",))
    run = load(path)
    found, blamed = shares(run), the("repeated-load", run)
    assert found["files"] == pytest.approx(blamed.share, abs=0.005)
    answer = steps(run)
    assert answer.without_core is not None
    assert any("had no core" in note for note in answer.notes)


@pytest.mark.nightly
@needs.package("tensorflow")
def test_so_is_one_that_is_read_under_a_tape(tmp_path: Path) -> None:
    run = load(record(PROGRAMS / "tf" / "reads_in_tape.py", tmp_path / "run"))
    assert shares(run)["files"] == pytest.approx(the("repeated-load", run).share, abs=0.03)
    told = {part.category: part.ns for part in parts(run)}
    assert told["evaluation"] < 10**6  # the model is built with a first call


@pytest.mark.nightly
@needs.package("lightning")
@pytest.mark.parametrize(
    ("kind", "id", "category", "function"),
    [
        ("Reads", "repeated-load", "files", "Reads.training_step"),
        ("Logs", "logging-stall", "logging", "Logs.on_before_optimizer_step"),
    ],
)
def test_so_is_what_a_hook_of_lightning_reads_and_logs(
    kind: str, id: str, category: str, function: str, tmp_path: Path
) -> None:
    program = PROGRAMS / "lightning" / "reads_and_logs.py"
    run = load(record(program, tmp_path / "run", arguments=("lightning.pytorch", kind)))
    blamed = the(id, run)
    assert shares(run)[category] == pytest.approx(blamed.share, abs=0.08)
    assert blamed.location is not None
    assert blamed.location.function == function


def test_a_transform_that_is_a_module_is_input(tmp_path: Path) -> None:
    run = load(record(PROGRAMS / "torch" / "input_modules.py", tmp_path / "run"))
    found, waits = shares(run), the("input-bound", run)
    assert found["input"] > 0.5
    assert found["forward"] < 0.3
    assert waits.share == pytest.approx(found["input"], abs=0.05)
    assert waits.location is not None
    assert waits.location.function == "Blur.forward"  # what __getitem__ only calls
    loader = input_of(run).loader
    assert loader is not None
    assert loader.share == pytest.approx(found["input"])


# --- slow steps -----------------------------------------------------------------------------------


def test_one_slow_epoch_is_a_finding_beside_what_every_step_waits_for(tmp_path: Path) -> None:
    program = PROGRAMS / "torch" / "slow_epochs.py"
    run = load(record(program, tmp_path / "run", "--ops", "off"))  # no window at the epoch's end
    answer, found = steps(run), shares(run)
    assert answer.bound == "input"
    assert most_of_each_step(answer) == "Most of step time goes to waiting for input"
    assert the("input-bound", run).share == pytest.approx(found["input"], abs=0.05)
    slow = the("slow-outlier-steps", run)
    assert slow.location is not None
    assert slow.location.function == "on_epoch_end"
    assert slow.share <= found["outliers"] + 0.01
    # On a busy machine other steps are as slow, and then the line says more than the epoch.
    whys = ("an epoch began", "on_epoch_end")
    assert any(why in each for each in slow.evidence for why in whys)


# --- passes without gradients ---------------------------------------------------------------------

DATA = ("reinforce", "replay", "actor_critic", "pseudo_labels", "mean_teacher")
EVALUATION = (
    "each_epoch",
    "each_epoch_and_before",
    "every_tenth_step",
    "after_every_step",
    "actor_critic_with_test",
)
DAILY = ("actor_critic", "each_epoch")


def trained(kind: str, path: Path) -> Run:
    program = PROGRAMS / "torch" / "no_grad_passes.py"
    return load(record(program, path, arguments=(kind,)))


@pytest.mark.parametrize("kind", nightly_but(DAILY, DATA))
def test_passes_that_make_data_are_not_evaluation(kind: str, tmp_path: Path) -> None:
    run = trained(kind, tmp_path / "run")
    assert "evaluation" not in shares(run)
    told = findings(run)
    assert not any("valuat" in each.fix + each.id for each in told.findings)
    if kind == "actor_critic":  # the world takes most of the time
        place = the("host-code", run).location
        assert place is not None
        assert place.function == "simulate"


@pytest.mark.parametrize("kind", nightly_but(DAILY, EVALUATION))
def test_passes_that_only_measure_are_evaluation(kind: str, tmp_path: Path) -> None:
    assert shares(trained(kind, tmp_path / "run"))["evaluation"] > 0.03


@pytest.mark.nightly
def test_trying_a_model_out_is_set_up(tmp_path: Path) -> None:
    told = {part.category: part.ns for part in parts(trained("tried_out", tmp_path / "run"))}
    assert told["evaluation"] < 10**6  # ns: the loop's last turn ends after its last step
