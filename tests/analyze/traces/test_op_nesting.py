"""Nesting of many operators at once gives the same as one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepscope.analyze.grouping import grouped, in_order, sums
from stepscope.analyze.traces.nesting import (
    any_above,
    outermost,
    parents,
    stand_ins,
    with_descendants,
)
from stepscope.clock import Ints

spans = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 20)), max_size=40)
trees = st.lists(st.integers(0, 10**6), max_size=40).map(
    lambda found: [number % (index + 1) - 1 for index, number in enumerate(found)]
)  # every parent comes before its children
flags = st.randoms(use_true_random=False)


def with_a_stack(sorted_spans: list[tuple[int, int, int]]) -> list[int]:
    """What ends first, or overlaps only in part, is popped."""
    found: list[int] = []
    stack: list[int] = []
    for index, (thread, start, lasted) in enumerate(sorted_spans):
        while stack:
            other, began, took = sorted_spans[stack[-1]]
            if other == thread and start < began + took and start + lasted <= began + took:
                break
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(index)
    return found


def columns(found: list[tuple[int, int, int]]) -> tuple[Ints, Ints, Ints]:
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 1] + table[:, 2]


@given(spans)
def test_the_parent_is_the_innermost_one_around(found: list[tuple[int, int, int]]) -> None:
    found.sort(key=lambda span: (span[0], span[1], -span[2]))
    assert parents(*columns(found)).tolist() == with_a_stack(found)


def test_many_beside_each_other_have_one_parent() -> None:
    inner = [(0, 10 * number + 1, 5) for number in range(1000)]
    assert parents(*columns([(0, 0, 10_001), *inner])).tolist() == [-1] + [0] * 1000
    assert parents(*columns(inner)).tolist() == [-1] * 1000


@given(trees, flags)
def test_only_children_of_the_same_name_are_the_same_call(
    parent: list[int], chance: object
) -> None:
    names = [chance.choice("ab") for _ in parent]  # type: ignore[attr-defined]
    expected: list[int] = []
    for index, above in enumerate(parent):
        is_same = above >= 0 and parent.count(above) == 1 and names[above] == names[index]
        expected.append(expected[above] if is_same else index)
    name = np.array([ord(each) for each in names], np.int64)
    assert stand_ins(np.array(parent, np.int64), name).tolist() == expected


def all_above(parent: list[int], index: int) -> list[int]:
    """The nearest first."""
    found = []
    while (index := parent[index]) >= 0:
        found.append(index)
    return found


@given(trees, flags)
def test_what_is_above_and_below_is_found_at_any_depth(parent: list[int], chance: object) -> None:
    wanted = [chance.random() < 0.3 for _ in parent]  # type: ignore[attr-defined]
    values = [chance.randint(-5, 5) for _ in parent]  # type: ignore[attr-defined]
    nodes = range(len(parent))
    above = [all_above(parent, index) for index in nodes]
    tree, flagged = np.array(parent, np.int64), np.array(wanted, np.bool_)
    assert any_above(tree, flagged).tolist() == [any(wanted[i] for i in up) for up in above]
    assert outermost(tree, flagged).tolist() == [
        next((i for i in [*reversed(above[index]), index] if wanted[i]), -1) for index in nodes
    ]
    assert with_descendants(tree, np.array(values, np.int64)).tolist() == [
        sum(values[i] for i in nodes if i == index or index in above[i]) for index in nodes
    ]


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([0, 1, 2**40, -(2**61)]))))
def test_groups_are_those_of_equal_rows(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    group, first = grouped(table[:, 0], table[:, 1])
    different = sorted(set(rows))
    assert [rows[index] for index in first.tolist()] == different
    assert group.tolist() == [different.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in different]
    assert [different[number] for number in in_order(first)] == list(dict.fromkeys(rows))
    assert sums(group, table[:, 0], len(first)).tolist() == [
        sum(row[0] for row in rows if row == each) for each in different
    ]
