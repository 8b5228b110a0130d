"""Passes without gradients in every step: evaluation, or what the training needs."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.answers.run_parts import parts
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


# --- now and then ---------------------------------------------------------------------------------

ROUNDS, UPDATES = 6, 10


def in_rounds(
    path: Path, *, before: int = 0, after: int = 0, first: int | None = None, tried: int = 0,
    batches: bool = False, has_loop: bool = True, inside: tuple[int, ...] = (),
) -> StepsAnswer:  # fmt: skip
    """Rounds of ten updates of 20 ms, with `before` and `after` passes of 50 ms without gradients
    in each round; `first`: the first round's. `tried` passes come before everything, `inside` ones
    in these updates of a round. `batches`: each pass takes one."""
    process = RunBuilder(path).process()
    outer, inner = process.loop(process.code(), 2, 19), process.loop(process.code(), 8, 15)
    now, rounds = 0, []

    def passes(count: int, now: int) -> int:
        for _ in range(count):
            if batches:
                process.span(SpanCategory.INPUT, now, now + 5 * MS, name="DataLoader", samples=8)
            process.span(
                SpanCategory.FORWARD, now + 10 * MS, now + 50 * MS, name=NET, samples=8,
                flags=int(ForwardFlag.NO_GRAD),
            )  # fmt: skip
            now += 50 * MS
        return now

    now = passes(tried, now)
    begun = now
    for number in range(ROUNDS):
        start, turns = now, []
        now = passes(before if number or first is None else first, now)
        loop_began = now
        for update in range(UPDATES):
            turn = now
            now = passes(int(update in inside), now)
            process.span(SpanCategory.FORWARD, now, now + 8 * MS, name=NET, samples=8)
            process.span(SpanCategory.BACKWARD, now + 8 * MS, now + 16 * MS)
            process.span(SpanCategory.OPTIMIZER, now + 16 * MS, now + 19 * MS, name="SGD", number=8)
            now += 20 * MS
            turns.append(now - turn)
        process.for_loop(inner, loop_began, turns)
        now = passes(after, now + MS)
        rounds.append(now + MS - start)
        now += MS
    if has_loop:
        process.for_loop(outer, begun, rounds)
    process.write()
    return steps(load(path))


@pytest.mark.parametrize("has_loop", [True, False])
@pytest.mark.parametrize("batches", [True, False])
def test_passes_at_the_end_of_each_round_are_evaluation(
    has_loop: bool, batches: bool, tmp_path: Path
) -> None:
    found = milliseconds(in_rounds(tmp_path / "run", after=4, has_loop=has_loop, batches=batches))
    assert found["evaluation"] == pytest.approx(4 * 50 / UPDATES, rel=0.2)


@pytest.mark.parametrize("has_loop", [True, False])
@pytest.mark.parametrize("batches", [True, False])
def test_passes_that_make_the_data_of_a_round_are_none(
    has_loop: bool, batches: bool, tmp_path: Path
) -> None:
    """A rollout, or new pseudo-labels; and no step is slow because of them."""
    found = milliseconds(in_rounds(tmp_path / "run", before=4, has_loop=has_loop, batches=batches))
    assert "evaluation" not in found
    assert "outliers" not in found


def test_a_training_that_makes_its_data_may_be_evaluated_as_well(tmp_path: Path) -> None:
    found = milliseconds(in_rounds(tmp_path / "run", before=4, after=2))
    assert found["evaluation"] == pytest.approx(2 * 50 / UPDATES, rel=0.2)


def test_passes_in_a_turn_of_the_step_loop_now_and_then_are_evaluation(tmp_path: Path) -> None:
    found = milliseconds(in_rounds(tmp_path / "run", inside=(0, 5)))
    assert found["evaluation"] == pytest.approx(2 * 45 / UPDATES, rel=0.2)


@pytest.mark.parametrize("tried", [1, 5])
def test_a_model_that_is_tried_out_first_is_set_up(tried: int, tmp_path: Path) -> None:
    in_rounds(tmp_path / "run", tried=tried)
    told = {part.category: part.ns for part in parts(load(tmp_path / "run"))}
    assert told["evaluation"] <= MS  # what follows the last step, up to the loop's turn


def test_an_untrained_model_that_is_evaluated_first_is_evaluated(tmp_path: Path) -> None:
    in_rounds(tmp_path / "run", tried=5, after=5, batches=True)
    told = {part.category: part.ns for part in parts(load(tmp_path / "run"))}
    assert told["evaluation"] >= 5 * 7 * 45 * MS


def test_a_policy_that_acts_in_every_turn_and_learns_in_some(tmp_path: Path) -> None:
    process = RunBuilder(tmp_path / "run").process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 160)
    for turn in range(160):
        at = 10 * turn * MS
        no_grad = int(ForwardFlag.NO_GRAD)
        process.span(SpanCategory.FORWARD, at, at + MS, name=NET, samples=1, flags=no_grad)
        if turn % 4 == 3:
            process.span(SpanCategory.FORWARD, at + 5 * MS, at + 6 * MS, name=NET, samples=8)
            process.span(SpanCategory.BACKWARD, at + 6 * MS, at + 7 * MS)
            process.span(
                SpanCategory.OPTIMIZER, at + 7 * MS, at + 8 * MS, name="SGD", number=8
            )  # fmt: skip
    process.write()
    assert "evaluation" not in milliseconds(steps(load(tmp_path / "run")))
