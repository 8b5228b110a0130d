"""The longest stretch of each step in which nothing runs on the device, counted on fingers."""

from pathlib import Path

import numpy as np
import pytest

from stepscope.analyze.operators.idle_gaps import idle_gaps
from stepscope.clock import Ints
from stepscope.importers.trace import Trace, no_events

Pairs = list[tuple[int, int]]
NONE = np.zeros(0, np.int64)
EMPTY = Trace(Path("t.json"), [], [], [], no_events(0), NONE, NONE, {}, [])


def pair(pairs: Pairs) -> tuple[Ints, Ints]:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@pytest.mark.parametrize(
    ("steps", "busy", "gaps", "begins_step"),
    [
        ([(0, 100)], [(60, 90)], [(0, 60)], [True]),
        ([(0, 100)], [(5, 20), (50, 90)], [(20, 50)], [False]),
        ([(0, 100)], [(0, 30), (40, 50), (60, 100)], [(30, 40)], [False]),  # the first of two
        ([(0, 100), (100, 200)], [(10, 80), (150, 300)], [(80, 100), (100, 150)], [False, True]),
        ([(0, 100), (120, 200)], [(0, 90)], [(90, 100), (120, 200)], [False, True]),
        ([(0, 100), (100, 200), (200, 300)], [(100, 200)], [(0, 100), (200, 300)], [True, True]),
        ([(50, 100)], [(0, 10), (20, 70), (90, 400)], [(70, 90)], [False]),
        ([(0, 100)], [(0, 100)], [], []),
        ([(0, 100)], [], [(0, 100)], [True]),
        ([(50, 100)], [(0, 60), (60, 100), (110, 120)], [], []),
    ],
)
def test_each_step_has_its_longest(
    steps: Pairs, busy: Pairs, gaps: Pairs, begins_step: list[bool]
) -> None:
    found = idle_gaps(EMPTY, pair(steps), pair(busy))
    assert list(zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True)) == gaps
    assert found.begins_step.tolist() == begins_step
    assert found.total_ns == sum(end - start for start, end in gaps)
