"""What the losses may do with each kind of fix."""

import pytest

from stepscope.model.trial import Same
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
