"""Steps of compiled functions that do the passes and the update in one."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.model import StepsAnswer
from stepscope.store.format import SpanCategory
from stepscope.store.reader import open_run

TURNS = 30
BATCH = 32


class Training:
    """A loop of turns of 10 ms; `call` adds a compiled function to each of them."""

    def __init__(self, path: Path, turns: int = TURNS) -> None:
        self._run = RunBuilder(path)
        self.process: ProcessBuilder = self._run.process()
        self._turns = turns
        loop = self.process.loop(self.process.code(), 2, 9)
        self.process.for_loop(loop, 0, [10 * MS] * turns)

    def call(
        self, number: int, name: str, from_ms: int, to_ms: int, samples: int = 0, *,
        updates: bool = True,
    ) -> None:  # fmt: skip
        for turn in range(self._turns):
            start, end = (turn * 10 + from_ms) * MS, (turn * 10 + to_ms) * MS
            self.process.span(
                SpanCategory.COMPUTE, start, end, name=name, number=number, samples=samples,
                updates=updates,
            )  # fmt: skip

    def answer(self) -> StepsAnswer:
        self.process.write()
        return steps(open_run(self._run.path), each=True)


def test_a_function_that_trains_ends_a_step(tmp_path: Path) -> None:
    training = Training(tmp_path / "run")
    training.call(1, "train_step", 2, 8, BATCH)
    answer = training.answer()
    assert (answer.steps, answer.anchor) == (TURNS, "train_step()")
    assert isinstance(answer.each, list)
    assert answer.each[7].phases["compute"] == 6 * MS
    assert answer.each[7].phases["prepare"] == 2 * MS  # from the start of the turn
    assert answer.rate is not None
    assert answer.rate.samples_per_s == pytest.approx(BATCH * answer.rate.per_s)


def test_one_that_is_not_known_to_update_gives_way(tmp_path: Path) -> None:
    """Even if it is called first."""
    training = Training(tmp_path / "run")
    training.call(1, "augment", 1, 2, updates=False)
    training.call(2, "train_step", 3, 8)
    assert training.answer().anchor == "train_step()"


def test_a_discriminator_twice_and_a_generator_once_are_one_step(tmp_path: Path) -> None:
    training = Training(tmp_path / "run")
    training.call(1, "train_on_batch", 1, 3, BATCH)
    training.call(1, "train_on_batch", 4, 6, BATCH)
    training.call(2, "train_on_batch", 7, 9, BATCH)
    answer = training.answer()
    assert answer.steps == TURNS
    assert answer.rate is not None
    assert answer.rate.samples_per_s == pytest.approx(BATCH * answer.rate.per_s)


def test_one_function_twice_in_a_turn_is_two_steps(tmp_path: Path) -> None:
    training = Training(tmp_path / "run")
    training.call(1, "train_step", 1, 3, BATCH)
    training.call(1, "train_step", 4, 6, BATCH)
    assert training.answer().steps == 2 * TURNS


def test_a_function_that_is_called_once_is_no_step(tmp_path: Path) -> None:
    training = Training(tmp_path / "run", turns=1)
    training.call(1, "train_step", 2, 8, BATCH)
    assert training.answer().steps == 0
