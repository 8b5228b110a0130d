"""The ladder's logic, with a measure whose answers are written down."""

from typing import Any

import pytest

from stepscope.model import Process
from stepscope.model.findings import Finding, Speedup
from stepscope.model.trial import LossCheck, Rung, Same
from stepscope.trial.fixes.fix import Keeps, Proposal
from stepscope.trial.ladder import Candidate, Ladder, Outcome, Stopped
from stepscope.trial.state import SavedFix


class FakeFix:
    title = "a fix"
    stage = "other"

    def __init__(self, name: str, keeps: Keeps = "bits", is_ceiling: bool = False) -> None:
        self.name = name
        self.keeps = keeps
        self.is_ceiling = is_ceiling


def candidate(name: str, keeps: Keeps = "bits", **more: Any) -> Candidate:
    fix: Any = FakeFix(name, keeps, more.pop("is_ceiling", False))
    return Candidate(fix, more.get("finding"), Proposal({}, name, f"write {name}"))


def gain(expected: float, low: float, high: float, *, as_promised: bool = True) -> Outcome:
    same: Same = "bitwise" if as_promised else "different"
    loss = LossCheck(
        same=as_promised,
        how=same,
        as_promised=as_promised,
        max_difference=0.0,
        words="from step 2 on",
    )
    return Outcome(Speedup(expected=expected, low=low, high=high), rounds=3, step_ms=1.0, loss=loss)


FASTER = gain(2.0, 1.8, 2.2)
NOTHING = gain(1.01, 0.95, 1.07)
SLOWER = gain(0.5, 0.4, 0.6)


class Measured:
    """Answers by name, and what was asked."""

    def __init__(self, **answers: Outcome | list[Outcome] | Exception) -> None:
        self.answers = answers
        self.asked: list[tuple[list[str], str]] = []

    def __call__(self, kept: list[SavedFix], asked: Candidate) -> Outcome:
        self.asked.append(([each.name for each in kept], asked.fix.name))
        answer = self.answers[asked.fix.name]
        if isinstance(answer, Exception):
            raise answer
        return answer.pop(0) if isinstance(answer, list) else answer


def climbed(*candidates: Candidate, **answers: Any) -> tuple[list[Rung], Measured, Ladder]:
    measure = Measured(**answers)
    ladder = Ladder(measure)
    ladder.climb(candidates)
    return ladder.rungs, measure, ladder


def test_what_helps_is_kept_and_the_next_comes_on_top() -> None:
    rungs, measure, ladder = climbed(candidate("a"), candidate("b"), a=FASTER, b=FASTER)
    assert [rung.status for rung in rungs] == ["kept", "kept"]
    assert ladder.gained == 4.0
    assert measure.asked == [([], "a"), (["a"], "b")]
    assert (rungs[0].speedup, rungs[0].low, rungs[0].high) == (2.0, 1.8, 2.2)
    assert rungs[0].patch == "write a"


@pytest.mark.parametrize("outcome", [NOTHING, SLOWER])
def test_what_does_not_stand_out_from_the_noise_is_rejected(outcome: Outcome) -> None:
    rungs, _, ladder = climbed(candidate("a"), a=outcome)
    assert (rungs[0].status, ladder.kept) == ("rejected", [])
    assert rungs[0].reason


def test_a_rejected_one_gets_a_second_chance_after_a_later_one_was_kept() -> None:
    rungs, measure, _ = climbed(candidate("a"), candidate("b"), a=[NOTHING, FASTER], b=FASTER)
    assert measure.asked == [([], "a"), ([], "b"), (["b"], "a")]
    assert [(rung.fix, rung.status) for rung in rungs] == [("b", "kept"), ("a", "kept")]


def test_there_is_no_second_chance_when_nothing_changed_since_nor_a_third() -> None:
    _, measure, _ = climbed(candidate("a"), candidate("b"), a=FASTER, b=[NOTHING])
    assert len(measure.asked) == 2
    again = {"a": [NOTHING, NOTHING], "b": FASTER}
    _, measure, _ = climbed(candidate("a"), candidate("b"), **again)
    assert len(measure.asked) == 3


def test_the_losses_must_do_what_the_fix_promises() -> None:
    (rung,), _, _ = climbed(candidate("a"), a=gain(2.0, 1.8, 2.2, as_promised=False))
    assert (rung.status, rung.reason) == ("rejected", "it changes the training: from step 2 on")


def test_a_fix_that_changes_the_training_gets_no_second_chance() -> None:
    wrong = gain(2.0, 1.8, 2.2, as_promised=False)
    _, measure, _ = climbed(candidate("a"), candidate("b"), a=[wrong], b=FASTER)
    assert len(measure.asked) == 2


def test_a_ceiling_is_measured_and_never_kept() -> None:
    (rung,), _, ladder = climbed(candidate("a", is_ceiling=True), a=FASTER)
    assert (rung.status, rung.speedup, ladder.kept) == ("rejected", 2.0, [])


@pytest.mark.parametrize(("predicted", "asked"), [(1.9, ["a"]), (3.0, ["a", "b"])])
def test_a_ceiling_is_measured_only_where_no_fix_gained_what_was_predicted(
    predicted: float, asked: list[str]
) -> None:
    found = finding(predicted)
    fix = candidate("a", finding=found)
    ceiling = candidate("b", finding=found, is_ceiling=True)
    rungs, measure, _ = climbed(fix, ceiling, a=FASTER, b=FASTER)
    assert [name for _, name in measure.asked] == asked
    assert (rungs[1].status == "skipped") == (asked == ["a"])


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_the_ladder_goes_on_after_a_rung_that_breaks(status: Any) -> None:
    broken = Outcome(status=status, reason="killed by SIGILL")
    rungs, _, _ = climbed(candidate("a"), candidate("b"), a=broken, b=FASTER)
    assert [(rung.status, rung.reason) for rung in rungs] == [
        (status, "killed by SIGILL"),
        ("kept", None),
    ]


def test_an_interruption_ends_the_ladder_with_what_there_is() -> None:
    class Interrupted(Measured):
        def __call__(self, kept: list[SavedFix], asked: Candidate) -> Outcome:
            raise KeyboardInterrupt

    ladder = Ladder(Interrupted())
    ladder.climb([candidate("a"), candidate("b")])
    assert [rung.reason for rung in ladder.rungs] == ["not tried: interrupted"] * 2


def test_what_does_not_fit_into_the_time_is_a_rung_that_says_so() -> None:
    rungs, measure, ladder = climbed(
        candidate("a"), candidate("b"), candidate("c"), a=FASTER, b=Stopped("no time"), c=FASTER
    )
    assert [rung.status for rung in rungs] == ["kept", "skipped", "skipped"]
    assert {rung.reason for rung in rungs[1:]} == {"not tried: no time"}
    assert (len(measure.asked), ladder.stopped) == (2, "no time")


def test_a_second_chance_that_does_not_fit_leaves_the_first_as_it_was() -> None:
    class Once(Measured):
        def __call__(self, kept: list[SavedFix], asked: Candidate) -> Outcome:
            if len(self.asked) == 2:
                raise Stopped("no time")
            return super().__call__(kept, asked)

    ladder = Ladder(Once(a=NOTHING, b=FASTER))
    ladder.climb([candidate("a"), candidate("b")])
    assert [(rung.fix, rung.status) for rung in ladder.rungs] == [("a", "rejected"), ("b", "kept")]
    assert ladder.stopped == "no time"


def test_what_is_for_the_user_to_decide_is_measured_and_not_kept() -> None:
    larger = candidate("a")
    larger = larger._replace(proposal=larger.proposal._replace(why_not_kept="another training"))
    (rung,), _, ladder = climbed(larger, a=FASTER)
    assert (rung.status, rung.reason, rung.speedup) == ("rejected", "another training", 2.0)
    assert ladder.kept == []


def finding(speedup: float) -> Finding:
    return Finding(
        id="input-bound",
        severity="high",
        title="waits",
        share=0.5,
        evidence=[],
        confidence="high",
        location=None,
        process=Process(role="main", rank=None, pid=1),
        speedup=Speedup(expected=speedup, low=speedup, high=speedup),
        fix="",
        patch=None,
        trial="a",
    )


def test_a_prediction_is_for_the_run_with_what_was_kept_before() -> None:
    asked: list[tuple[str | None, float]] = []

    def predict(finding: Finding, kept_run: str | None, gained: float) -> Speedup:
        asked.append((kept_run, gained))
        return Speedup(expected=2.0 + len(asked), low=1.0, high=None)

    faster = FASTER._replace(run="01-a-1-after/run")
    ladder = Ladder(Measured(a=faster, b=NOTHING, c=FASTER), predict=predict)
    ladder.climb([candidate(name, finding=finding(2.0)) for name in "abc"])
    first = [(None, 1.0), ("01-a-1-after/run", 2.0), ("01-a-1-after/run", 2.0)]
    assert asked[:3] == first
    assert [rung.predicted and rung.predicted.expected for rung in ladder.rungs][:2] == [3.0, 5.0]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (gain(3.4, 0.4, 59.7), "faster, but not beyond doubt: --rounds and --budget"),
        (NOTHING, "no gain that stands out from the noise"),
        (SLOWER, "slower"),
    ],
)
def test_a_gain_in_doubt_is_not_the_same_as_none(outcome: Outcome, words: str) -> None:
    ladder = Ladder(Measured(one=outcome))
    ladder.climb([candidate("one")])
    assert (ladder.rungs[0].status, ladder.kept) == ("rejected", [])
    assert (ladder.rungs[0].reason or "").startswith(words)
