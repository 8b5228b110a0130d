"""Passes without gradients in every step: evaluation, or what the training needs."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import StepsAnswer
from stepscope.store.format import ForwardFlag, SpanCategory

STEPS = 40
NET, OTHER = "Net", "Teacher"


def trained(
    path: Path, *extra: tuple[int, int, str], before: tuple[tuple[int, int, str], ...] = ()
) -> Path:
    """Turns of 20 ms: forward from 5 to 7, backward to 9, the optimizer to 10; and in each turn
    `extra` passes without gradients, (from, to, module) in ms, and `before` ones with them."""
    run = RunBuilder(path)
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [20 * MS] * STEPS)
    for step in range(STEPS):
        passes = [(5, 7, NET, SpanCategory.FORWARD, 0), (7, 9, NET, SpanCategory.BACKWARD, 0)]
        passes += [(a, b, name, SpanCategory.FORWARD, 0) for a, b, name in before]
        no_grad = int(ForwardFlag.NO_GRAD)
        passes += [(a, b, name, SpanCategory.FORWARD, no_grad) for a, b, name in extra]
        at = 20 * step * MS
        for start, end, name, category, flags in sorted(passes):
            first, last = at + start * MS, at + end * MS
            process.span(category, first, last, name=name, samples=8, flags=flags)
        process.span(SpanCategory.OPTIMIZER, at + 9 * MS, at + 10 * MS, name="SGD", number=8)
    process.write()
    return run.path


def milliseconds(answer: StepsAnswer) -> dict[str, float]:
    return {each.category: each.ms for each in answer.breakdown or []}


def test_a_model_that_is_asked_after_each_update_is_evaluated(tmp_path: Path) -> None:
    run = load(trained(tmp_path / "run", (11, 14, NET), (14, 18, NET)))
    assert milliseconds(steps(run))["evaluation"] == pytest.approx(7, abs=0.2)
    found = findings(run).findings
    assert [each.id for each in found] == ["evaluation-stall"]
    assert found[0].share == pytest.approx(7 / 20, abs=0.02)


@pytest.mark.parametrize("whose", [NET, OTHER])
def test_what_the_loss_is_made_of_is_forward(whose: str, tmp_path: Path) -> None:
    """A teacher's answer, or a GAN's samples: between the batch and the update."""
    run = load(trained(tmp_path / "run", (1, 5, whose)))
    assert "evaluation" not in milliseconds(steps(run))


def test_a_model_that_is_never_trained_is_not_evaluated(tmp_path: Path) -> None:
    """It may compute the next batch's features."""
    run = load(trained(tmp_path / "run", (11, 18, OTHER)))
    assert "evaluation" not in milliseconds(steps(run))


@pytest.mark.parametrize("whose", [NET, OTHER])
def test_what_follows_a_pass_without_gradients_is_no_loss(whose: str, tmp_path: Path) -> None:
    """A policy acts in the second ms; the simulator and the replay take three more."""
    told = milliseconds(steps(load(trained(tmp_path / "run", (1, 2, whose)))))
    assert told["forward"] == pytest.approx(1 + 2, abs=0.1)
    assert told["prepare"] == pytest.approx(1 + 3, abs=0.1)


def test_after_the_update_it_is_no_loss_of_the_next_turn(tmp_path: Path) -> None:
    told = milliseconds(steps(load(trained(tmp_path / "run", (11, 14, OTHER)))))
    assert told["forward"] == pytest.approx(3 + 2, abs=0.1)
    assert told["prepare"] == pytest.approx(5, abs=0.1)
    assert told["python"] == pytest.approx(1 + 6, abs=0.1)


def test_a_teacher_asked_after_the_student_belongs_to_the_loss(tmp_path: Path) -> None:
    run = load(trained(tmp_path / "run", (3, 4, OTHER), before=((1, 2, NET),)))
    told = milliseconds(steps(run))
    assert told["forward"] == pytest.approx(6, abs=0.1)
    assert told["prepare"] == pytest.approx(1, abs=0.1)
