"""What a piece of code costs, seen by using its first result again: a ceiling, never a fix."""

import contextlib
import dataclasses
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

import needs
from stepscope.model import Location
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.inside.replayed import replayed
from stepscope.trial.fixes.proposing import left_out_function
from stepscope.trial.fixes.stalls import skip_callback
from trial.fixes.fake_script import FakeScript
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import run_with
from trial.test_ladder import finding


def test_the_first_result_for_each_shape_is_used_again() -> None:
    said: list[str] = []
    calls: list[Any] = []

    def double(batch: Any, scale: int = 2) -> Any:
        calls.append(batch)
        return batch * scale

    function = replayed(double, said.append)
    assert function(np.ones(4)).tolist() == [2.0] * 4
    assert said == []
    assert function(np.zeros(4)).tolist() == [2.0] * 4
    assert function(np.ones(3)).tolist() == [2.0] * 3  # the last batch is smaller
    assert function(np.zeros(4), scale=3).tolist() == [0.0] * 4
    assert len(calls) == 3
    assert said == ["its first result again and again"]


HOT = """
    import time

    def features(rows):
        found = []
        for row in rows:
            found.append(sum(range(row)) % 7)
        return found

    for step in range(40):
        print(features([400 + step] * 200)[0])
"""


def test_the_function_around_a_hot_loop_is_replayed(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(HOT))
    with contextlib.chdir(tmp_path):
        subject, _ = subject_of(script)
        asked = with_finding(
            subject, "python-hot-loop", "found.append(sum(range(row)) % 7)", share=0.9
        )
        proposal = fixes.named("replay-result").propose(asked)
        # If the function did a third more, the ceiling would be less tight, and still one.
        assert asked.finding is not None
        less = msgspec.structs.replace(asked.finding, share=0.7)
        again = fixes.named("replay-result").propose(dataclasses.replace(asked, finding=less))
        assert again == proposal
        assert isinstance(proposal, Proposal)
        assert proposal.words == "the first result of features, again and again"
        assert proposal.patch is None
        tried = run_with(
            script, fixes={"replay-result": proposal.settings}, into=tmp_path / "after"
        )
    assert len(set(tried.stdout.split())) == 1
    assert tried.applied("replay-result") == "its first result again and again"


def test_it_is_a_ceiling_and_changes_the_training() -> None:
    fix = fixes.named("replay-result")
    assert (fix.is_ceiling, fix.keeps) == (True, "training")


# --- metrics of a library, called by code that does more ------------------------------------------


class Stacks:
    """Looks at the finding's line: a part of them inside a file."""

    def __init__(self, file: str, share: float) -> None:
        self._inside, self._share = look_at(file), share

    def inside(self, _location: Any) -> list[Any]:
        return [self._inside, look_at("/project/train.py")]

    def share(self, looks: Any) -> float:
        return self._share if self._inside in list(looks) else 0.0


def look_at(file: str) -> Any:
    return SimpleNamespace(frames=(SimpleNamespace(function=SimpleNamespace(file=file)),))


@pytest.mark.parametrize(
    ("file", "share", "fits"),
    [
        ("/lib/sklearn/metrics/_classification.py", 0.3, True),
        ("/lib/torchmetrics/metric.py", 0.3, True),
        ("/lib/sklearn/metrics/_classification.py", 0.1, False),
        ("/lib/sklearn/linear_model/_base.py", 0.3, False),
    ],
)
def test_where_the_function_does_more_the_librarys_metrics_are_left_out(
    monkeypatch: pytest.MonkeyPatch, file: str, share: float, fits: bool
) -> None:
    def refused(*_: Any, **__: Any) -> Refusal:
        return Refusal("it does more")

    monkeypatch.setattr(left_out_function, "left_out_function", refused)
    place = Location(file="train.py", line=3, function="main")
    blamed = msgspec.structs.replace(finding(2.0), location=place, library="f1_score")
    subject: Any = SimpleNamespace(finding=blamed, case=SimpleNamespace(stacks=Stacks(file, share)))
    found = fixes.named("skip-callback").propose(subject)
    if fits:
        assert found == Proposal({"metrics": True}, "f1_score works only once", None)
    else:
        assert found == Refusal("it does more")


def test_functions_that_measure_work_once() -> None:
    metrics: Any = ModuleType("sklearn.metrics")
    metrics.__all__ = ["score", "Display"]
    metrics.score = lambda truth, guess: truth + guess
    metrics.Display = type("Display", (), {})
    script = FakeScript()
    skip_callback._replay_functions(script, metrics)
    assert [metrics.score(1, 2), metrics.score(3, 4)] == [3, 3]
    assert isinstance(metrics.Display, type)
    assert script.said == ["applied: its first result again and again"]
    script.patches.undo()
    assert metrics.score(3, 4) == 7


TORCHMETRICS = """
import torch
import torchmetrics

metric, other = torchmetrics.MeanMetric(), torchmetrics.MeanMetric()
for step in range(3):
    print(float(metric(torch.tensor(float(step + 1)))))
    other.update(torch.tensor(float(step + 5)))
print(float(metric.compute()), float(other.compute()))
"""


@pytest.mark.nightly  # a process with torch
def test_each_metric_of_torchmetrics_works_once(tmp_path: Path) -> None:
    needs.require("torchmetrics")
    script = tmp_path / "train.py"
    script.write_text(TORCHMETRICS)
    settings = {"skip-callback": {"metrics": True}}
    tried = run_with(script, fixes=settings, into=tmp_path / "run")
    assert tried.status == 0, tried.stderr
    assert tried.stdout.split() == ["1.0", "1.0", "1.0", "1.0", "5.0"]
    assert tried.applied("skip-callback") == "its first result again and again"
