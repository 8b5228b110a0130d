"""Where stepscope records, and what it says on a Python that is newer than it."""

import pytest

from stepscope.launch.support import NEWEST, untested_python


def test_a_python_newer_than_the_tests_is_warned_about_in_one_line() -> None:
    newer = (NEWEST[0], NEWEST[1] + 1)
    sentence = untested_python(newer)
    assert sentence is not None
    assert sentence.startswith(f"Python 3.{newer[1]} is newer than what stepscope was tested on")
    assert "\n" not in sentence


@pytest.mark.parametrize("version", [(3, 11), NEWEST])
def test_a_python_that_is_tested_is_not(version: tuple[int, int]) -> None:
    assert untested_python(version) is None
