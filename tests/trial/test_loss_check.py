"""What the losses may do with each kind of fix."""

import numpy as np
import pytest

from stepscope.analyze.steps.losses import Losses
from stepscope.model.trial import Same
from stepscope.trial import loss_check
from stepscope.trial.fixes.fix import Keeps
from stepscope.trial.loss_check import is_as_promised


@pytest.mark.parametrize(
    ("keeps", "same", "expected"),
    [
        ("bits", "bitwise", True),
        ("bits", "within tolerance", False),
        ("bits", "unknown", True),
        ("rounding", "within tolerance", True),
        ("rounding", "different", False),
        ("precision", "within tolerance", True),
        ("precision", "different", False),
        ("training", "different", True),
    ],
)
def test_each_kind_of_fix_has_its_promise(keeps: Keeps, same: Same, expected: bool) -> None:
    assert is_as_promised(keeps, same, own_runs_vary=False) is expected


@pytest.mark.parametrize(("same", "expected"), [("within tolerance", True), ("different", False)])
def test_where_the_scripts_own_runs_differ_in_bits_no_fix_can_keep_them(
    same: Same, expected: bool
) -> None:
    assert is_as_promised("bits", same, own_runs_vary=True) is expected


def run_of(*values: float) -> Losses:
    steps = np.arange(len(values))
    return Losses(steps, np.zeros_like(steps), np.array(values))


RUNS = {
    "before": run_of(3.0, 2.0, 1.0),
    "same": run_of(3.0, 2.0, 1.0),
    "other": run_of(2.5, 1.5, 1.5),
    "own": run_of(3.4, 1.6, 1.4),  # of a script that is not seeded
}


@pytest.mark.parametrize(
    ("after", "control", "how", "as_promised"),
    [
        ("same", "same", "bitwise", True),
        ("other", "same", "different", False),
        ("other", "own", "unknown", True),
    ],
)
def test_nothing_can_be_said_where_the_scripts_own_runs_differ_as_much(
    monkeypatch: pytest.MonkeyPatch, after: str, control: str, how: Same, as_promised: bool
) -> None:
    monkeypatch.setattr(loss_check, "_of", RUNS.__getitem__)
    found = loss_check.checked("before", after, [control], "bits")
    assert (found.how, found.as_promised) == (how, as_promised)
    assert found.same is {"bitwise": True, "different": False}.get(how)
