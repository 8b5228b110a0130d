"""Which loop's turns --steps counts, without a script: loops that turn on a clock of our own."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.launch.options import RecordOptions
from stepscope.record.code.loops import Loop
from stepscope.record.steps import larger_steps, limits, step_counter
from stepscope.record.steps.limits import EndOfSteps, StepLimits

MS = 1_000_000
DATA, TRAINING = 1, 2
LOOPS = {DATA: Loop(3, 5, None), TRAINING: Loop(10, 12, None)}


class Script:
    """Turns its loops; a tick is a nanosecond."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        self.now = self.passes = 0
        self.always: list[int] = []
        core = SimpleNamespace(
            passes=lambda: self.passes,
            ticks=lambda: self.now,
            ticks_per_ns=lambda: 1.0,
            stamp_always=self.always.append,
        )
        self.table = SimpleNamespace(
            loop=LOOPS.__getitem__,
            file_of=lambda _: "/copy/pkg/train.py",
        )
        self.follows = True  # another loop does
        monkeypatch.setattr(limits, "_core", core)
        for module in (limits, larger_steps):
            monkeypatch.setattr(module, "table", self.table)
        for name in ("loops_follow", "any_left"):
            monkeypatch.setattr(limits, name, lambda *_, **__: self.follows)
        monkeypatch.setattr(limits, "FRAMEWORKS", ())
        self.limits = StepLimits(RecordOptions(**options), lambda: None)

    def turn(self, loop: int, times: int, ms: float = 2.0, passes: int = 0) -> int:
        """How many whole turns were made before the script was ended."""
        line = LOOPS[loop].line
        for turns in range(times + 1):
            try:
                self.limits.loop_turned(loop, self.now, line + 1 if turns else 1)
            except EndOfSteps:
                return turns
            self.now += int(ms * MS)
            self.passes += passes
        return times


def test_with_a_framework_a_loop_without_passes_makes_the_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(monkeypatch, steps=30)
    monkeypatch.setattr(limits, "FRAMEWORKS", ("sys",))
    assert script.turn(DATA, 500) == 500
    assert script.turn(TRAINING, 100, passes=3) == 30


def test_with_a_framework_a_loop_that_goes_on_and_on_counts_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(monkeypatch, steps=30)
    monkeypatch.setattr(limits, "FRAMEWORKS", ("sys",))
    assert script.turn(DATA, 1_000, ms=100) == limits.WITHOUT_PASSES_S * 10


def test_without_a_framework_a_loop_that_others_follow_counts_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(monkeypatch, steps=30, guess_after_s=2.0)
    assert script.turn(DATA, 500) == 500
    assert script.turn(TRAINING, 3_000) == 1_000  # 2 s


@pytest.mark.parametrize("frameworks", [(), ("sys",)])
def test_nobody_waits_where_no_other_loop_follows(
    monkeypatch: pytest.MonkeyPatch, frameworks: tuple[str, ...]
) -> None:
    script = Script(monkeypatch, steps=30)
    monkeypatch.setattr(limits, "FRAMEWORKS", frameworks)
    script.follows = False
    assert script.turn(TRAINING, 500) == 30


def test_a_loop_that_is_over_does_not_hide_the_one_that_trains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(monkeypatch, steps=30, guess_after_s=0.1)
    assert script.turn(DATA, 49) == 49
    assert script.turn(TRAINING, 100, ms=5) == 30


@pytest.mark.parametrize("place", ["train.py:10", "pkg/train.py:10", "/copy/pkg/train.py:10"])
def test_a_loop_that_is_known_counts_however_fast_it_turns(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    script = Script(monkeypatch, steps=30, step_loop=place)
    assert script.turn(DATA, 500) == 500
    assert script.always == []
    script.limits.step_ended(1)  # a compiled step is reported: it is the loop that counts
    assert script.turn(TRAINING, 100, ms=0.01) == 30
    assert script.always == [TRAINING]


@pytest.mark.parametrize("place", ["", "rain.py:10", "line 10"])
def test_where_only_reported_steps_count_no_loop_does(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    assert Script(monkeypatch, steps=30, step_loop=place).turn(TRAINING, 500) == 500


def test_reported_steps_count_where_they_are_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, steps=3, step_loop="")
    script.limits.step_ended(1)
    script.limits.step_ended(2)
    with pytest.raises(EndOfSteps):
        script.limits.step_ended(3)


def test_short_steps_may_be_asked_to_go_on_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, steps=30, steps_for_s=1.0)
    assert script.turn(TRAINING, 1_000, ms=2.0, passes=3) == 500


def test_long_steps_end_when_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, steps=30, steps_for_s=1.0)
    assert script.turn(TRAINING, 1_000, ms=100.0, passes=3) == 30


def test_quick_turns_count_if_they_have_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, steps=30)
    monkeypatch.setattr(limits, "FRAMEWORKS", ("sys",))
    assert script.turn(DATA, 500, ms=0.2) == 500
    assert script.turn(TRAINING, 100, ms=0.2, passes=1) == 30


CRITIC, GENERATOR = 1, 2


class Updates(Script):
    """Two optimizers, by the number of their steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        super().__init__(monkeypatch, **options)
        step_counter.reset()
        step_counter.listen(self.limits.step_ended)
        self.steps = {CRITIC: 0, GENERATOR: 0}

    def update(self, optimizer: int) -> None:
        step_counter.optimizer_stepped(optimizer)
        self.steps[optimizer] += 1

    def train(self, critics: int, *, in_turns: bool = False) -> None:
        for _ in range(100):
            self._turn(critics, in_turns)

    def _turn(self, critics: int, in_turns: bool) -> None:
        """Of the loop around: so many turns of the critic's, then the generator."""
        for turn in range(critics):
            self.limits.loop_turned(DATA, self.now, LOOPS[DATA].line + 1 if turn else 1)
            self.now += MS
            self.update(CRITIC)
            if in_turns:
                self.update(GENERATOR)
        self.limits.loop_turned(DATA, self.now, LOOPS[DATA].line + 1)
        if not in_turns:
            self.update(GENERATOR)


@pytest.fixture
def _without_steps() -> Iterator[None]:
    yield
    step_counter.reset()


@pytest.mark.usefixtures("_without_steps")
def test_five_updates_of_a_critic_and_one_of_the_generator_are_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Updates(monkeypatch, steps=10)
    with pytest.raises(EndOfSteps):
        script.train(critics=5)
    assert script.steps == {CRITIC: 50, GENERATOR: 10}


@pytest.mark.usefixtures("_without_steps")
@pytest.mark.parametrize(("critics", "in_turns"), [(1_000, False), (5, True)])
def test_updates_are_the_steps_where_a_loop_has_many_or_both_take_turns_in_it(
    monkeypatch: pytest.MonkeyPatch, critics: int, in_turns: bool
) -> None:
    script = Updates(monkeypatch, steps=60)
    with pytest.raises(EndOfSteps):
        script.train(critics, in_turns=in_turns)
    assert script.steps[CRITIC] == 59  # the sixtieth ends it
