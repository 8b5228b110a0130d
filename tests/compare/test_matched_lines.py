"""Lines found again in an edited file."""

from hypothesis import given
from hypothesis import strategies as st

from stepscope.compare.matched_lines import matched_lines

TEXT = [
    "import torch",
    "",
    "def main():",
    "    loader = make(data, 64)",
    "    for x in loader:",
    "        step(x)",
]


def test_lines_that_moved_are_the_same_lines() -> None:
    after = ["# a comment", *TEXT]
    assert matched_lines(TEXT, after) == {line: line + 1 for line in range(1, 7)}


def test_a_line_with_one_more_argument_is_the_same_line() -> None:
    after = [*TEXT[:3], "    loader = make(data, 64, workers=4)", *TEXT[4:]]
    assert matched_lines(TEXT, after) == {line: line for line in range(1, 7)}


def test_a_line_in_another_block_is_the_same_line() -> None:
    after = [*TEXT[:3], *("    " + line for line in TEXT[3:])]
    assert matched_lines(TEXT, after) == {line: line for line in range(1, 7)}


def test_a_deleted_line_is_missing() -> None:
    assert matched_lines(TEXT, [*TEXT[:3], *TEXT[4:]]) == {1: 1, 2: 2, 3: 3, 5: 4, 6: 5}


def test_a_line_that_was_replaced_by_another_is_not_the_same() -> None:
    after = [*TEXT[:3], "    plan.execute()", *TEXT[4:]]
    assert 4 not in matched_lines(TEXT, after)


def test_large_blocks_that_have_nothing_in_common_are_quick() -> None:
    before, after = [f"a{i}" for i in range(2000)], [f"b{i}" for i in range(2000)]
    assert matched_lines(before, after) == {}


@given(st.lists(st.text("ab ", max_size=4)), st.lists(st.text("ab ", max_size=4)))
def test_lines_keep_their_order_and_each_is_used_once(before: list[str], after: list[str]) -> None:
    found = matched_lines(before, after)
    assert list(found) == sorted(found)
    assert list(found.values()) == sorted(set(found.values()))
    assert all(1 <= a <= len(before) and 1 <= b <= len(after) for a, b in found.items())
