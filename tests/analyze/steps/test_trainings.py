"""Optimizers that step one after the other continue the steps; those beside another do not."""

from pathlib import Path

import numpy as np
import pytest

from build import MS, START_NS, RunBuilder
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.phases.collecting import step_loops
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.analyze.steps.optimizer_runs import find_trainings
from stepscope.store.format import SpanCategory

TURN_MS = 10
BETWEEN_MS = 30  # from one loop's end to the next one's entry


@pytest.mark.parametrize(
    ("calls", "anchors", "trainings"),
    [
        ("aaa", "xxx", "000"),
        ("aabbcc", "xxxxxx", "001122"),
        ("dgdgdg", "x.x.x.", "000000"),
        ("gdddddgdddddg", ".xxxxx.xxxxx.", "0000000000000"),
        ("ddddgdgd", "xxxx.x.x", "00000000"),  # pretrained alone, then together
        ("dgdgDGDG", "x.x.x.x.", "00001111"),  # two GANs
        ("gdddgGDDDG", ".xxx..xxx.", "0000011111"),
    ],
)
def test_who_makes_the_steps_of_which_training(calls: str, anchors: str, trainings: str) -> None:
    found = find_trainings(np.array([ord(call) for call in calls]))
    assert "".join("x" if each else "." for each in found.is_anchor) == anchors
    assert "".join(map(str, found.training)) == trainings


class Script:
    """What a script does, in order."""

    def __init__(self, path: Path) -> None:
        self.run = RunBuilder(path)
        self.process = self.run.process()
        self.code = self.process.code()
        self.at_ms = 0

    def loop(self, line: int) -> int:
        return self.process.loop(self.code, line, line + 5)

    def trains(self, loop: int, optimizers: str, *, number: int, name: str = "Adam") -> None:
        """One turn per letter: "n" steps with optimizer `number`, "m" with the next one."""
        self.process.for_loop(loop, self.at_ms * MS, [TURN_MS * MS] * len(optimizers))
        for letter in optimizers:
            self.spends(SpanCategory.INPUT, 1, 2)
            self.spends(SpanCategory.FORWARD, 2, 5)
            self.steps(number + "nm".index(letter), name)
            self.at_ms += TURN_MS
        self.at_ms += BETWEEN_MS

    def spends(self, category: SpanCategory, from_ms: int, to_ms: int) -> None:
        self.process.span(category, (self.at_ms + from_ms) * MS, (self.at_ms + to_ms) * MS)

    def steps(self, number: int, name: str = "Adam") -> None:
        start, end = ((self.at_ms + ms) * MS for ms in (7, 9))
        self.process.span(SpanCategory.OPTIMIZER, start, end, name=name, number=number)

    def found(self) -> FoundSteps:
        self.process.write(ended_ns=self.at_ms * MS)
        run = load(self.run.path)
        return find_steps(run, run.main)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "run")


def since_ms(at_ns: int) -> float:
    return (at_ns - START_NS) / MS


def test_every_fold_makes_steps_and_what_lies_between_is_none(script: Script) -> None:
    loop = script.loop(2)
    for fold in range(3):
        script.trains(loop, "n" * 20, number=1 + fold)
    found = script.found()
    assert (len(found), found.anchor) == (60, "Adam.step()")
    # each fold from its first input to its last update; then 30 ms, and 1 ms to the next input
    firsts, lasts = found.start_ns[::20], found.end_ns[19::20]
    assert [since_ms(at) for at in firsts] == [1, 231, 461]
    assert [since_ms(at) for at in lasts] == [199, 429, 659]
    assert set(found.duration_ns[1:20].tolist()) == {TURN_MS * MS}


def test_the_time_between_two_folds_is_set_up_and_evaluation_not_teardown(script: Script) -> None:
    loop = script.loop(2)
    script.trains(loop, "n" * 20, number=1)
    script.at_ms -= BETWEEN_MS
    script.spends(SpanCategory.EVALUATION, 4, 14)
    script.at_ms += BETWEEN_MS
    script.trains(loop, "n" * 20, number=2)
    script.found()
    parts = {part.category: part.ns / MS for part in summary(load(script.run.path)).parts}
    assert parts["steps"] == 198 + 198
    # the last update's end is 1 ms before the loop's own
    assert parts["evaluation"] == 1 + 10 + 1
    assert parts["set-up"] == 20 + 1 + 4 + 16 + 1
    assert parts["teardown"] == BETWEEN_MS


def test_each_training_may_have_a_loop_and_a_kind_of_its_own(script: Script) -> None:
    script.trains(script.loop(2), "n" * 25, number=1, name="Adam")
    script.trains(script.loop(10), "n" * 5, number=2, name="LBFGS")
    script.trains(script.loop(20), "n" * 300, number=3, name="SGD")
    found = script.found()
    assert (len(found), found.anchor) == (330, "Adam.step(), LBFGS.step() and SGD.step()")
    assert [since_ms(found.start_ns[first]) for first in (0, 25, 30)] == [1, 281, 361]
    assert len(found.header_ns) == 26 + 6 + 301


def test_another_optimizer_in_the_same_loop_leaves_no_gap(script: Script) -> None:
    script.trains(script.loop(2), "n" * 20 + "m" * 20, number=1)
    found = script.found()
    assert len(found) == 40
    assert (found.start_ns[1:] == found.end_ns[:-1]).all()


def test_without_a_loop_a_training_begins_with_its_first_input(script: Script) -> None:
    for model in range(2):
        for _ in range(20):
            script.spends(SpanCategory.INPUT, 1, 2)
            script.steps(1 + model)
            script.at_ms += TURN_MS
        script.at_ms += BETWEEN_MS
    found = script.found()
    assert len(found) == 40
    assert since_ms(found.start_ns[20]) == 231


def test_optimizers_that_alternate_are_one_training(script: Script) -> None:
    script.trains(script.loop(2), "n" * 10 + "nm" * 10, number=1)
    found = script.found()
    assert len(found) == 20
    assert (found.start_ns[1:] == found.end_ns[:-1]).all()


def test_an_optimizer_that_steps_once_makes_no_step(script: Script) -> None:
    loop = script.loop(2)
    script.trains(loop, "n" * 20, number=1)
    script.trains(script.loop(10), "n", number=2)
    script.trains(loop, "n" * 20, number=3)
    assert len(script.found()) == 40


def test_two_gans_of_five_to_one_make_a_step_a_turn_of_the_loop_around(script: Script) -> None:
    iterations, critic = script.loop(2), script.process.loop(script.code, 3, 5, 1)
    for gan in range(2):
        for iteration in range(12):
            before = 7 if iteration else 1
            script.process.stamp(iterations, script.at_ms * MS, before=before)
            script.at_ms += 1
            script.trains(critic, "n" * 5, number=1 + 2 * gan)
            script.at_ms += 1 - BETWEEN_MS
            script.steps(2 + 2 * gan)
            script.at_ms += TURN_MS
        script.process.stamp(iterations, script.at_ms * MS, before=7)
        script.at_ms += BETWEEN_MS
    found = script.found()
    assert len(found) == 24
    assert set(found.duration_ns[1:12].tolist()) == {62 * MS}
    # after the last update 1 ms to the loop's end, 30 ms, then 1 ms and 1 ms to the first input
    assert found.start_ns[12] - found.end_ns[11] == (1 + BETWEEN_MS + 1 + 1) * MS


def test_samples_are_those_of_each_trainings_own_module(script: Script) -> None:
    for number, (module, batch) in enumerate({"Encoder": 32, "Head": 8}.items()):
        for _ in range(20):
            start, end = ((script.at_ms + ms) * MS for ms in (1, 5))
            script.process.span(SpanCategory.FORWARD, start, end, name=module, samples=batch)
            script.steps(1 + number)
            script.at_ms += TURN_MS
        script.at_ms += BETWEEN_MS
    assert script.found().samples.tolist() == [32] * 20 + [8] * 20


def test_hundreds_of_models_are_all_counted(script: Script) -> None:
    loop = script.loop(2)
    for model in range(300):
        script.trains(loop, "nnn", number=1 + model)
    assert len(script.found()) == 900


# --- optimizers and compiled functions ------------------------------------------------------------


def computes(script: Script, loop: int, turns: int, *, number: int = 1) -> None:
    """Turns of 10 ms, each with a compiled function that trains."""
    script.process.for_loop(loop, script.at_ms * MS, [TURN_MS * MS] * turns)
    for _ in range(turns):
        start, end = ((script.at_ms + ms) * MS for ms in (2, 9))
        script.process.span(
            SpanCategory.COMPUTE, start, end, name="train_step", number=number, updates=True
        )
        script.at_ms += TURN_MS
    script.at_ms += BETWEEN_MS


def test_a_compiled_function_goes_on_where_the_optimizer_is_no_longer_seen(script: Script) -> None:
    script.trains(script.loop(2), "n" * 5, number=1)
    computes(script, script.loop(10), 300)
    found = script.found()
    assert (len(found), found.anchor) == (305, "Adam.step() and train_step()")
    parts = {part.category: part.ns / MS for part in summary(load(script.run.path)).parts}
    assert parts["teardown"] == BETWEEN_MS


def test_an_optimizer_goes_on_after_a_compiled_function(script: Script) -> None:
    computes(script, script.loop(2), 30)
    script.trains(script.loop(10), "n" * 40, number=1)
    found = script.found()
    assert (len(found), found.anchor) == (70, "train_step() and Adam.step()")


def test_a_compiled_function_between_an_optimizers_steps_is_part_of_them(script: Script) -> None:
    loop = script.loop(2)
    for turn in range(20):
        start, end = ((turn * TURN_MS + ms) * MS for ms in (2, 6))
        script.process.span(
            SpanCategory.COMPUTE, start, end, name="gradients", number=1, updates=True
        )
    script.trains(loop, "n" * 20, number=1)
    found = script.found()
    assert (len(found), found.anchor) == (20, "Adam.step()")


def test_the_loop_that_takes_batches_is_the_steps_and_not_the_generators(tmp_path: Path) -> None:
    """Both turn once a step, and the generator's holds hardly less time."""
    process = RunBuilder(tmp_path / "run").process()
    takes = process.loop(process.code("<module>", kind="module", first_line=20), 29, 33)
    makes = process.loop(process.code("batches", kind="generator"), 2, 4)
    for step in range(30):
        at = step * 10 * MS
        process.stamp(takes, at, before=28 if not step else 33, activation=1)
        process.stamp(makes, at + 10, before=1 if not step else 4, activation=at + 5)
        process.span(SpanCategory.OPTIMIZER, at + 8 * MS, at + 9 * MS, name="SGD", number=1)
    process.write()
    run = load(tmp_path / "run")
    steps = find_steps(run, run.main)
    assert [loop.name.line for loop in step_loops(steps)] == [29]
