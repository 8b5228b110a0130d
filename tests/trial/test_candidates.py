"""Which fixes are tried, in which order, and what is said of those that cannot be."""

import dataclasses
from typing import Any

import msgspec
import pytest

from stepscope.errors import InputError
from stepscope.model.findings import Finding, FindingsAnswer, Speedup
from stepscope.model.trial import Rung
from stepscope.trial import candidates, fixes
from stepscope.trial.candidates import proposed, require_known
from stepscope.trial.fixes.fix import Proposal, Refusal, Stage
from stepscope.trial.fixes.subject import Subject
from stepscope.trial.ladder import Candidate
from stepscope.trial.state import Wanted
from trial.test_ladder import finding


class FakeFix:
    title = "a fix"
    keeps = "bits"
    is_ceiling = False

    def __init__(self, name: str, stage: Stage, proposal: Any) -> None:
        self.name = name
        self.stage = stage
        self.proposal = proposal
        self.seen: list[Finding | None] = []

    def propose(self, subject: Subject) -> Any:
        self.seen.append(subject.finding)
        if isinstance(self.proposal, Exception):
            raise self.proposal
        return self.proposal


FITS = Proposal({}, "fits", None)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeFix]:
    there = {
        "compile": FakeFix("compile", "compile", FITS),
        "workers": FakeFix("workers", "data", FITS),
        "pin": FakeFix("pin", "data", Refusal("there is no GPU")),
        "jit": FakeFix("jit", "compile", None),
        "odd": FakeFix("odd", "other", ValueError("what?")),
    }

    def named(name: str) -> FakeFix:
        return there[name]

    monkeypatch.setattr(fixes, "named", named)
    monkeypatch.setattr(fixes, "every", lambda: list(there.values()))
    monkeypatch.setattr(fixes, "ALSO", {})
    return there


def named_by(*names: str | None) -> Subject:
    found = [msgspec.structs.replace(finding(2.0), trial=name) for name in names]
    advice = FindingsAnswer(verdict="slow", findings=found, not_judged=[])
    case: Any = None
    return Subject(case, advice, frozenset({"torch"}), 2.0)


def offered(subject: Subject, **asked: Any) -> list[Candidate | Rung]:
    wanted = Wanted(words=["train.py"], cwd="/", rounds=5, **asked)
    return list(proposed(subject, wanted))


def test_a_fix_for_a_framework_is_only_asked_where_the_script_imports_it(
    known: dict[str, FakeFix],
) -> None:
    subject = named_by("compile", "workers")
    assert all(isinstance(each, Candidate) for each in offered(subject))
    compiled, loaded = offered(dataclasses.replace(subject, frameworks=frozenset({"jax"})))
    assert isinstance(compiled, Rung)
    assert (compiled.fix, compiled.reason) == ("compile", "it does not fit here")
    assert isinstance(loaded, Candidate)


def test_a_finding_may_have_more_fixes_than_it_names(
    known: dict[str, FakeFix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those are silent where they do not fit, and come once."""
    subject = named_by("workers", "odd")
    id = subject.advice.findings[0].id
    monkeypatch.setattr(fixes, "ALSO", {id: ("compile", "pin", "jit")})
    assert names(offered(subject)) == ["workers", "compile", "odd"]
    assert names(offered(subject, fixes=["compile"])) == ["compile"]


def names(found: list[Candidate | Rung]) -> list[str | None]:
    return [each.fix.name if isinstance(each, Candidate) else each.fix for each in found]


def test_findings_give_the_fixes_and_their_order(known: dict[str, FakeFix]) -> None:
    found = offered(named_by("workers", "compile"))
    assert names(found) == ["workers", "compile"]
    assert [each.trial for each in known["workers"].seen if each] == ["workers"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pin", "there is no GPU"),
        ("jit", "it does not fit here"),
        ("odd", "it cannot be proposed for this run: ValueError: what?"),
        (None, "no change from outside can do this: it needs yours"),
        ("of tomorrow", "no change from outside can do this: it needs yours"),
    ],
)
def test_a_finding_without_a_fix_that_fits_is_a_rung_with_its_computed_ceiling(
    known: dict[str, FakeFix], name: str | None, reason: str
) -> None:
    (rung,) = offered(named_by(name))
    assert isinstance(rung, Rung)
    assert (rung.status, rung.reason, rung.finding) == ("skipped", reason, "input-bound")
    assert rung.ceiling == 2.0  # half of the step
    assert rung.speedup is None


def test_the_ladder_goes_by_stages_whatever_findings_name(known: dict[str, FakeFix]) -> None:
    assert names(offered(named_by("compile"), ladder=True)) == ["workers", "compile", "pin", "odd"]
    known["stall"] = FakeFix("stall", "other", FITS)
    found = offered(named_by("compile", "stall"), ladder=True)
    assert names(found) == ["stall", "workers", "compile", "pin", "odd"]
    without = offered(named_by(), ladder=True)
    assert names(without) == ["workers", "compile", "stall", "pin", "odd"]


def test_the_ladder_of_named_fixes_goes_by_stages_too(known: dict[str, FakeFix]) -> None:
    asked = ["compile", "workers"]
    assert names(offered(named_by("compile"), fixes=asked)) == asked
    assert names(offered(named_by("compile"), fixes=asked, ladder=True)) == ["workers", "compile"]


def test_what_can_be_kept_comes_before_ceilings(known: dict[str, FakeFix]) -> None:
    known["ceiling"] = FakeFix("ceiling", "data", FITS)
    known["ceiling"].is_ceiling = True
    assert names(offered(named_by("ceiling", "workers"))) == ["workers", "ceiling"]
    on_ladder = offered(named_by(), ladder=True)
    assert names([each for each in on_ladder if isinstance(each, Candidate)])[-1] == "ceiling"


def test_two_findings_that_ask_for_the_very_same_get_one_turn(known: dict[str, FakeFix]) -> None:
    assert names(offered(named_by("workers", "compile", "workers"))) == ["workers", "compile"]


def test_a_fix_of_the_same_function_takes_the_turn_of_a_ceiling(known: dict[str, FakeFix]) -> None:
    same = Proposal({"function": "evaluate"}, "fits", None)
    known["ceiling"], known["seldom"] = (
        FakeFix("ceiling", "other", same),
        FakeFix("seldom", "other", same),
    )
    known["ceiling"].is_ceiling = True
    subject = named_by("ceiling", "workers", "seldom")
    large = msgspec.structs.replace(subject.advice.findings[0], speedup=Speedup(3.0, 3.0, 3.0))
    subject.advice.findings[0] = large
    found = offered(subject)
    assert names(found) == ["seldom", "workers"]
    assert isinstance(found[0], Candidate)
    assert found[0].finding is large


def test_a_fix_of_a_framework_that_is_only_loaded_is_refused(
    known: dict[str, FakeFix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is in the room of torch; here JAX computes."""
    monkeypatch.setattr(candidates, "goes_through", lambda _, package: package == "jax")
    subject = dataclasses.replace(named_by(), frameworks=frozenset({"torch", "jax"}))
    (rung,) = offered(subject, fixes=["compile"])
    assert isinstance(rung, Rung)
    assert rung.reason == "the steps compute with jax, not with torch"
    alone = dataclasses.replace(named_by(), frameworks=frozenset({"torch"}))
    assert isinstance(offered(alone, fixes=["compile"])[0], Candidate)


def test_only_what_was_asked_for(known: dict[str, FakeFix]) -> None:
    found = offered(named_by("workers", "compile"), fixes=["compile", "jit"])
    assert names(found) == ["compile", "jit"]
    skipped = found[1]
    assert isinstance(skipped, Rung)
    assert skipped.reason == "it has nothing to do with this script"


def test_a_fix_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="There is no fix 'nonsense'"):
        require_known(["nonsense"])
    with pytest.raises(InputError, match=r"There is no fix 'no\.such\.module'"):
        require_known(["no.such.module"])
    require_known(None)
