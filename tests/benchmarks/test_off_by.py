"""How wrong predictions were, by the kind of fault."""

import pytest

from benchmarks.zoo.off_by import LEFT_OUT, by_fault, nine_in_ten, within_others
from stepscope.advise.findings import RULES, id_of


def test_of_nine_the_greatest_error_is_what_nine_in_ten_are_under() -> None:
    errors = [0.1 * number for number in range(1, 10)]
    assert nine_in_ten({"input-bound": errors}) == "0.90"
    assert nine_in_ten({"input-bound": errors[1:]}) == "–"  # of so few, nobody knows


def test_work_that_is_left_out_counts_apart_from_other_code() -> None:
    found = by_fault([("logging-stall", 0.1), ("host-code", 0.4), ("logging-stall", 0.2)])
    assert found == ({"logging-stall": [0.1, 0.2]}, {"host-code": [0.4]})


def test_a_fault_that_nobody_has_seen_is_judged_by_the_others() -> None:
    off_by = {"input-bound": [0.1] * 9 + [0.9], "host-code": [0.2] * 10}
    assert list(within_others(off_by)) == [True] * 9 + [False] + [True] * 10


@pytest.mark.parametrize("fault", LEFT_OUT)
def test_what_leaves_work_out_is_a_finding(fault: str) -> None:
    assert fault in map(id_of, RULES)
