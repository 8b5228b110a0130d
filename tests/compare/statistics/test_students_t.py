"""Student's t, against the tables."""

import math

import pytest

from stepscope.compare.statistics.students_t import two_sided


@pytest.mark.parametrize(
    ("level", "degrees", "expected"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 7, 2.365),
        (0.95, 30, 2.042),
        (0.99, 1, 63.657),
        (0.99, 4, 4.604),
    ],
)
def test_it_is_what_the_tables_say(level: float, degrees: int, expected: float) -> None:
    assert two_sided(level, degrees) == pytest.approx(expected, rel=1e-3)


def test_with_many_degrees_it_is_the_normal_distribution() -> None:
    assert two_sided(0.95, math.inf) == pytest.approx(1.960, rel=2e-3)


def test_less_than_one_degree_is_taken_for_one() -> None:
    assert two_sided(0.95, 0) == two_sided(0.95, 1)
