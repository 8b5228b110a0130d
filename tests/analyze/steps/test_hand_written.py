"""Updates that the script writes itself: steps without an optimizer."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import StepsAnswer
from stepscope.store.format import SpanCategory

US = 1_000


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def shares(answer: StepsAnswer) -> dict[str, float]:
    return {share.category: share.share for share in answer.breakdown or [] if share.share}


def passes(process: ProcessBuilder, at_ns: int) -> None:
    """Forward to 100 µs, backward to 250; the update has the rest."""
    process.span(SpanCategory.FORWARD, at_ns, at_ns + 100 * US, name="Linear")
    process.span(SpanCategory.BACKWARD, at_ns + 100 * US, at_ns + 250 * US, name="backward")


def test_turns_with_gradients_are_steps_however_quick(run: RunBuilder) -> None:
    """20 epochs of 50 turns, 0.4 ms each."""
    process = run.process()
    code = process.code()
    outer = process.loop(code, 2, 9)
    inner = process.loop(code, 3, 8, parent=outer)
    at_ns = MS
    for epoch in range(20):
        process.stamp(outer, at_ns - US, before=1 if epoch == 0 else 8)
        for turn in range(50):
            passes(process, at_ns + turn * 400 * US)
        at_ns = process.for_loop(inner, at_ns, [400 * US] * 50) + 2 * US
    process.stamp(outer, at_ns, before=8)
    process.write()
    answer = steps(load(run.path))
    assert (answer.steps, answer.anchor) == (1000, "the loop at train.py:3")
    assert answer.step_ms is not None
    assert answer.step_ms.median == pytest.approx(0.4)
    assert shares(answer) == pytest.approx(
        {"forward": 0.25, "backward": 0.375, "optimizer": 0.375}, abs=0.01
    )


def test_without_a_loop_each_gradient_makes_a_step_that_ends_before_the_next_pass(
    run: RunBuilder,
) -> None:
    process = run.process()
    for number in range(40):
        passes(process, number * 400 * US)
    process.write()
    answer = steps(load(run.path))
    assert (answer.steps, answer.anchor) == (40, "backward")
    assert shares(answer) == pytest.approx(
        {"forward": 0.25, "backward": 0.375, "optimizer": 0.375}, abs=0.01
    )


def test_two_gradients_in_a_turn_are_one_step(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [2 * MS] * 30)
    for number in range(60):
        passes(process, number * MS)
    process.write()
    assert steps(load(run.path)).steps == 30


def test_a_few_gradients_are_no_training(run: RunBuilder) -> None:
    process = run.process()
    for number in range(9):
        passes(process, number * MS)
    process.write()
    assert steps(load(run.path)).steps == 0
