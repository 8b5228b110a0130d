"""Which loop's turns --steps counts, without a script: loops that turn on a clock of our own."""

from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.launch.options import RecordOptions
from stepscope.record.code.loops import Loop
from stepscope.record.steps import limits
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
            find=lambda _: SimpleNamespace(loops=(), first_line=1, line_count=10_000),
        )
        monkeypatch.setattr(limits, "_core", core)
        monkeypatch.setattr(limits, "table", self.table)
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


def test_without_a_framework_the_first_loop_counts_unless_it_is_asked_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Script(monkeypatch, steps=30).turn(DATA, 500) == 30
    patient = Script(monkeypatch, steps=30, guess_after_s=2.0)
    assert patient.turn(DATA, 500) == 500
    assert patient.turn(TRAINING, 3_000) == 1_000  # 2 s


def test_nobody_waits_where_nothing_follows_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, steps=30, guess_after_s=2.0)
    script.table.find = lambda _: None
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
