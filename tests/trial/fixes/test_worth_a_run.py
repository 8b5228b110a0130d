"""Which fixes that no finding names are worth a run, on steps built by hand."""

import dataclasses
from pathlib import Path

import pytest

from stepscope.model.findings import FindingsAnswer
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.subject import Subject
from trial.fixes.test_left_out_function import case_of
from trial.test_ladder import finding


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    """A step of 10 ms, 1 of it in the optimizer; nothing loads batches or collects garbage."""
    advice = FindingsAnswer(verdict="", findings=[], not_judged=[])
    return Subject(case_of(tmp_path / "run"), advice, frozenset({"torch"}), cores=2.0)


@pytest.mark.parametrize(
    ("fix", "reason"),
    [
        ("num-workers", "no DataLoader gives the steps their batches"),
        ("larger-batch", "no DataLoader gives the steps their batches"),
        ("gc-freeze", "no collection in the steps took as long as 50 µs"),
        ("thread-count", "the script's threads do not keep each other from the cores"),
    ],
)
def test_what_cannot_gain_anything_costs_no_run(subject: Subject, fix: str, reason: str) -> None:
    assert fixes.named(fix).propose(subject) == Refusal(reason)


def test_a_phase_bounds_what_its_fix_can_gain(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    fused = fixes.named("fused-optimizer")
    assert isinstance(fused.propose(subject), Proposal)  # a tenth of the step
    monkeypatch.setattr(subject.case, "phase_ns", lambda name: 0.004 * subject.case.step_ns)
    said = "the optimizer's step takes 0.4 % of the step: there is nothing to gain"
    assert fused.propose(subject) == Refusal(said)
    for asked in (
        dataclasses.replace(subject, is_named=True),
        dataclasses.replace(subject, finding=finding(1.1)),
    ):
        assert isinstance(fused.propose(asked), Proposal)
