"""The right steps, and phases that add up, on loops of many shapes."""

import functools
import json
import statistics
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.loops import LIKE_OTHERS, STEPS
from frameworks.running import PROGRAMS, record, show
from nights import nightly_but

needs.module("torch")

LOOPS = nightly_but(STEPS.keys() - LIKE_OTHERS, STEPS)


class Runs(dict[str, Path]):
    """Each recorded when first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = record(PROGRAMS / f"torch/{name}.py", self._folder / name)
        return self[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@functools.cache
def steps_of(run: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(run, "steps", "--each", "--json"))
    return answer


@pytest.mark.parametrize("name", LOOPS)
def test_the_right_number_of_steps(runs: Runs, name: str) -> None:
    assert steps_of(runs[name])["steps"] == STEPS[name]


@pytest.mark.parametrize("name", LOOPS)
def test_phases_sum_to_each_step(runs: Runs, name: str) -> None:
    for step in steps_of(runs[name])["each"]:
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


@pytest.mark.parametrize("name", LOOPS)
def test_little_is_left_unexplained(runs: Runs, name: str) -> None:
    """By the median step; where other programs had the cores, some are interrupted, anywhere: then
    by the best one."""
    answer = steps_of(runs[name])
    usual = min if answer["without_core"] else statistics.median
    each = [step for step in answer["each"] if step["measured"]]
    unexplained = [
        (step["phases"].get("python", 0) + step["phases"].get("unattributed", 0))
        / step["duration_ns"]
        for step in each
    ]
    assert usual(unexplained) <= 0.05


def test_samples_come_from_the_batches(runs: Runs) -> None:
    for name, samples in {"plain_loop": 64, "accumulation": 256, "module_level": 64}.items():
        rate = steps_of(runs[name])["rate"]
        assert rate["samples_per_s"] == pytest.approx(samples * rate["per_s"])


def test_samples_are_those_that_were_collated_wherever_their_dimension_is(runs: Runs) -> None:
    """Of (time, batch, features), with and without workers; the last batch of an epoch has 8."""
    answer = steps_of(runs["sequence_first"])
    measured = [step["measured"] for step in answer["each"]]
    sizes = ([16] * 6 + [8]) * 6
    expected = sum(size for size, kept in zip(sizes, measured, strict=True) if kept)
    rate = answer["rate"]
    found = rate["samples_per_s"] / rate["per_s"] * answer["measured"]
    assert found == pytest.approx(expected)


def test_evaluation_and_checkpoints_are_phases_of_their_own(runs: Runs) -> None:
    categories = {row["category"] for row in steps_of(runs["evaluation_inside"])["breakdown"]}
    assert {"evaluation", "checkpoint", "forward", "backward", "optimizer"} <= categories
    assert "evaluation" in {
        row["category"] for row in steps_of(runs["evaluation_after_epoch"])["breakdown"]
    }


def test_a_frozen_teacher_is_forward(runs: Runs) -> None:
    for name in ("several_models", "gan"):
        categories = {row["category"] for row in steps_of(runs[name])["breakdown"]}
        assert "evaluation" not in categories


@pytest.mark.nightly  # three in a hundred can be measured only if nothing else runs
def test_phases_agree_with_times_taken_by_hand(tmp_path: Path) -> None:
    program = PROGRAMS / "torch/timed_by_hand.py"
    run = record(program, tmp_path / "run", arguments=(str(tmp_path / "by_hand.json"),))
    by_hand = json.loads((tmp_path / "by_hand.json").read_text())
    answer = steps_of(run)
    assert answer["steps"] == 60
    measured = [index for index, step in enumerate(answer["each"]) if step["measured"]]
    assert len(measured) > 20
    for phase in by_hand[0]:  # medians: on a busy machine some steps are interrupted, anywhere
        ours = statistics.median(answer["each"][index]["phases"][phase] for index in measured)
        theirs = statistics.median(by_hand[index][phase] for index in measured)
        assert ours == pytest.approx(theirs, rel=0.03), phase
