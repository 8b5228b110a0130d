"""Calls of jitted functions, before and after it is known what they do."""

import numpy as np

from stepscope.analyze.steps.jitted_functions import may_evaluate, with_first_calls
from stepscope.store.format import SpanCategory

TRAINS, EVALUATES, GRADIENTS = 5, 6, 7  # ids of names
FIELDS = np.dtype([("name", "u4"), ("extra", "u4"), ("value0", "u8"), ("value1", "u8")])


def spans(*rows: tuple[int, SpanCategory, int, int]) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    return np.array(list(rows), FIELDS)


def test_first_calls_get_the_number_that_came_later() -> None:
    compute = SpanCategory.COMPUTE
    found = with_first_calls(
        spans(
            (TRAINS, compute, 0, 0),
            (GRADIENTS, compute, 0, 0),
            (EVALUATES, compute, 0, 0),
            (TRAINS, compute, 1, 64 << 1 | 1),
            (TRAINS, SpanCategory.COMPILE, 0, 0),
            (GRADIENTS, compute, 2, 32 << 1),
        )
    )
    assert found["value0"].tolist() == [1, 2, 0, 1, 0, 2]
    assert found["value1"].tolist() == [1, 0, 0, 64 << 1 | 1, 0, 32 << 1]


def test_nothing_is_copied_where_nothing_is_missing() -> None:
    told = spans((TRAINS, SpanCategory.COMPUTE, 1, 1), (EVALUATES, SpanCategory.COMPUTE, 0, 0))
    assert with_first_calls(told) is told


def test_what_never_trains_may_be_evaluation() -> None:
    compute = np.array([True, True, True, False])
    name = np.array([TRAINS, EVALUATES, TRAINS, EVALUATES], np.int64)
    number = np.array([0, 0, 1, 0], np.int64)
    assert may_evaluate(compute, name, number).tolist() == [False, True, False, False]
