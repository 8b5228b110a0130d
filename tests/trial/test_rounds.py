"""Rounds and what is kept of them, without a script."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope.launch.options import RecordOptions
from stepscope.trial import rounds
from stepscope.trial.ladder import Stopped
from stepscope.trial.mean_step import MeasuredSteps
from stepscope.trial.one_run import OneRun, Report
from stepscope.trial.rounds import Rounds, Runs, control_rounds
from stepscope.trial.state import Budget, Round, SavedBaseline, SavedFix, State, Wanted, resume

CONTROL_ROUNDS = 2
FIX = SavedFix(name="a", settings={"workers": 2})
APPLIED = [Report(0, "applied", "workers=2")]


class FakeProgram:
    """Each run's mean step is the next of `step_ms`, by whether the fix is on; a text says how much
    of it others took: "100 0.5"."""

    def __init__(self, without: Sequence[float | str], with_fix: Sequence[float | str]) -> None:
        self.step_ms = {0: list(without), 1: list(with_fix)}
        self.order: list[int] = []
        self.limit_s = 0.0
        self.said = APPLIED
        self.trouble: str | None = None

    def run(self, parent: str, options: Any, fixes: Any, limit_s: float) -> OneRun:
        self.order.append(len(fixes))
        self.limit_s = limit_s
        Path(parent, "run").mkdir(parents=True)
        (Path(parent) / "ms").write_text(str(self.step_ms[len(fixes)].pop(0)))
        trouble = self.trouble if fixes else None
        return OneRun(f"{parent}/run", 1.0, trouble, [], self.said if fixes else [])


@pytest.fixture(autouse=True)
def step_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured_steps(folder: str, anchor: str | None) -> MeasuredSteps:
        ms, _, lost = (Path(folder).parent / "ms").read_text().partition(" ")
        return MeasuredSteps(float(ms), seconds=0.5, lost=float(lost) if lost else None)

    monkeypatch.setattr(rounds, "measured_steps", measured_steps)


def state_in(folder: Path, most_rounds: int = 5) -> State:
    wanted = Wanted(words=["train.py"], cwd=str(Path.cwd()), rounds=most_rounds)
    baseline = SavedBaseline(run="", seconds=1.0, loaded=[])
    return State(wanted, str(folder), baseline=baseline)


def rounds_of(program: Any, state: State, budget_s: float = 1e6) -> Rounds:
    return Rounds(program, state, RecordOptions(), Runs(1.0, None), Budget(budget_s))


def test_a_gain_takes_two_rounds_whose_sides_take_turns(tmp_path: Path) -> None:
    program = FakeProgram([100.0, 104, 103, 100, 101, 100, 100, 100], [50.0, 51, 50])
    state = state_in(tmp_path)
    found = rounds_of(program, state).compare([], [FIX], "a")
    assert [(each.before_ms, each.after_ms) for each in found.rounds] == [(101, 50), (100, 51)]
    assert program.order[-4:] == [1, 0, 0, 1]
    assert len(program.order) == 2 * CONTROL_ROUNDS + 4
    assert (state.seconds, state.steps_s) == (8.0, 4.0)  # each run a second, half of it in steps


def test_a_compiler_gets_more_time_where_others_take_most_of_it(tmp_path: Path) -> None:
    program, runs = FakeProgram([100.0] * 4, []), Runs(1.0, None, lost=0.95)
    Rounds(program, state_in(tmp_path), RecordOptions(), runs, Budget(1e6)).control()  # type: ignore[arg-type]
    assert program.limit_s == pytest.approx(4 * 1.0 + 60 / 0.1)  # and no more than that


def test_what_other_programs_took_is_in_no_time(tmp_path: Path) -> None:
    program = FakeProgram([100, 100, 100, 100, "200 0.5"], ["50 0.0"])
    state = state_in(tmp_path)
    found = rounds_of(program, state).compare([], [FIX], "a")
    assert [(each.before_ms, each.after_ms) for each in found.rounds] == [(100, 50)]
    assert state.most_lost() == 0.5


def test_what_is_known_of_one_side_only_is_not_a_difference(tmp_path: Path) -> None:
    program = FakeProgram([100, 100, 100, 100, "100 0.5", "100 0.5"], [100, 100])
    found = rounds_of(program, state_in(tmp_path, most_rounds=2)).compare([], [FIX], "a")
    assert [(each.before_ms, each.after_ms) for each in found.rounds] == [(100, 100), (100, 100)]


@pytest.mark.parametrize("step_ms", [50.0, 120.0])
def test_one_round_is_enough_where_it_says_all(tmp_path: Path, step_ms: float) -> None:
    """The script hardly differs from itself, and the fix is faster or slower beyond doubt."""
    program = FakeProgram([100.0, 100.1, 100.1, 100, 100, 100], [step_ms] * 5)
    found = rounds_of(program, state_in(tmp_path)).compare([], [FIX], "a")
    assert len(found.rounds) == 1


def test_what_is_slower_in_both_of_its_rounds_gets_no_third(tmp_path: Path) -> None:
    noisy = [100.0, 112, 95, 107, 100, 100, 100]
    program = FakeProgram(noisy, [109.0, 106, 100, 100, 100])
    found = rounds_of(program, state_in(tmp_path)).compare([], [FIX], "a")
    assert len(found.rounds) == 2


@pytest.mark.parametrize(("step_ms", "rounds_taken"), [(97.0, 1), (60.0, 2)])
def test_where_others_wait_for_their_time_only_what_promises_a_gain_gets_a_second_round(
    tmp_path: Path, step_ms: float, rounds_taken: int
) -> None:
    noisy = [100.0, 112, 95, 107, 100, 100, 100]
    bench = rounds_of(FakeProgram(noisy, [step_ms] * 5), state_in(tmp_path), budget_s=12.0)
    bench.control()
    bench._budget = Budget(7.0)
    bench.on_round = lambda *_: setattr(bench, "_budget", Budget(4.5))
    assert len(bench.compare([], [FIX], "a", others=5).rounds) == rounds_taken


def test_a_round_that_was_measured_counts_where_the_time_is_up(tmp_path: Path) -> None:
    noisy = [100.0, 112, 95, 107, 100, 100, 100]
    bench = rounds_of(FakeProgram(noisy, [90.0]), state_in(tmp_path), budget_s=12.0)
    bench.control()
    bench._budget = Budget(3.0)  # time for one round
    bench.on_round = lambda *_: setattr(bench, "_budget", Budget(0.0))
    assert len(bench.compare([], [FIX], "a").rounds) == 1


def test_the_time_left_counts_the_rounds_to_come_and_never_exceeds_the_budget(
    tmp_path: Path,
) -> None:
    left: list[tuple[str, float]] = []
    bench = rounds_of(FakeProgram([100.0] * 20, [50.0] * 9), state_in(tmp_path, most_rounds=4))
    bench.on_round = lambda what, number, most, left_s: left.append((what, left_s))
    bench.compare([], [FIX], "a", others=1)  # runs of a second, two a round
    assert [seconds for what, seconds in left if what == "control"] == [20.0, 18.0]
    assert [seconds for what, seconds in left if what == "a"] == [16.0]
    short = rounds_of(FakeProgram([100.0] * 20, [50.0] * 9), state_in(tmp_path), budget_s=20.0)
    short.on_round = lambda what, number, most, left_s: left.append((what, left_s))
    short.control()
    assert left[-1][1] <= 20.0


def test_a_doubtful_gain_takes_all_rounds(tmp_path: Path) -> None:
    without = [100.0, 110, 95, 105, 100, 90, 100, 104, 97]
    program = FakeProgram(without, [98.0, 101, 99])
    found = rounds_of(program, state_in(tmp_path, most_rounds=3)).compare([], [FIX], "a")
    assert len(found.rounds) == 3


def test_the_control_is_measured_once(tmp_path: Path) -> None:
    program = FakeProgram([100.0] * 20, [50.0] * 9)
    bench = rounds_of(program, state_in(tmp_path))
    assert bench.control() == bench.control() == [1.0] * CONTROL_ROUNDS
    bench.compare([], [FIX], "a")
    assert program.order.count(0) == 2 * CONTROL_ROUNDS + 1


@pytest.mark.parametrize(
    ("said", "trouble", "status", "reason"),
    [
        ([], "killed by SIGKILL", "failed", "killed by SIGKILL"),
        ([Report(0, "refused", "no GPU")], None, "skipped", "no GPU"),
        ([Report(0, "failed", "ValueError: x")], None, "failed", "ValueError: x"),
        ([], None, "skipped", "never reached"),
    ],
)
def test_a_fix_that_cannot_be_measured_costs_one_run(
    tmp_path: Path, said: list[Report], trouble: str | None, status: str, reason: str
) -> None:
    program = FakeProgram([100.0] * 20, [50.0] * 9)
    program.said, program.trouble = said, trouble
    found = rounds_of(program, state_in(tmp_path)).compare([], [FIX], "a")
    assert (found.status, found.rounds) == (status, [])
    assert reason in (found.reason or "")
    assert program.order.count(1) == 1


def test_nothing_is_started_that_does_not_fit_into_the_budget(tmp_path: Path) -> None:
    program = FakeProgram([100.0], [])
    with pytest.raises(Stopped, match=r"the budget of 0\.025 minutes is used up"):
        rounds_of(program, state_in(tmp_path), budget_s=1.5).compare([], [FIX], "a")
    assert program.order == []


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    program = FakeProgram([100.0] * 20, [50.0] * 9)
    rounds_of(program, state_in(tmp_path)).compare([], [FIX], "a")
    runs = len(program.order)
    saved = resume(Wanted(words=[str(tmp_path)], cwd=str(Path.cwd()), rounds=5), lambda _: True)
    again = rounds_of(program, saved).compare([], [FIX], "a")
    assert (len(program.order), len(again.rounds)) == (runs, 1)


def test_only_the_runs_of_the_first_round_are_kept(tmp_path: Path) -> None:
    program = FakeProgram([100.0] * 20, [50.0] * 9)
    found = rounds_of(program, state_in(tmp_path)).compare([], [FIX], "a")
    first: Round = found.rounds[0]
    assert sorted(str(path) for path in tmp_path.glob("01-a-*/run")) == sorted(
        [first.before_run, first.after_run]
    )


@pytest.mark.parametrize(
    ("run_s", "expected"), [(1.0, 2), (10.0, 2), (50.0, 2), (60.0, 1), (100.0, 1), (150.0, 0)]
)
def test_the_control_takes_a_third_of_the_time_at_most(run_s: float, expected: int) -> None:
    assert control_rounds(run_s, Budget(601.0)) == expected
