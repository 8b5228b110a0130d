"""A `stepscope.Profile` that nobody switches off, and what it leaves to the garbage collector."""

import gc
import subprocess
import sys

import pytest

from stepscope import Profile
from transparency.both import PATIENCE_S


def leaf(n: int) -> int:
    return n + 1


def work(n: int) -> int:
    return sum(leaf(i) for i in range(n))


def leaves(profile: Profile) -> int:
    """How often `leaf` was called."""
    return next(each.callcount for each in profile.getstats() if each.code is leaf.__code__)


def fail_while_counting() -> None:
    profile = Profile()
    profile.enable()
    raise KeyError(profile)


def test_a_profile_that_an_exception_dropped_does_not_stay_on() -> None:
    with pytest.raises(KeyError):
        fail_while_counting()
    gc.collect()
    later = Profile()
    later.enable()
    work(3)
    later.disable()
    assert leaves(later) == 3
    later.enable()
    del later
    with Profile() as last:
        work(2)
    assert leaves(last) == 2


DROPPED_AT_THE_END = """
import stepscope
kept = stepscope.Profile()
kept.enable()
print(sum(len(str(i)) for i in range(10)))
"""


def test_a_profile_that_is_on_at_the_end_of_the_program_says_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DROPPED_AT_THE_END], capture_output=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"10\n", b"")


def test_counting_calls_makes_nothing_that_the_garbage_collector_sees() -> None:
    def counts() -> tuple[int, int]:
        """What a thousand calls add, plainly and counted."""
        before = gc.get_count()[0], len(gc.get_objects())
        for number in numbers:
            leaf(number)
        after = gc.get_count()[0], len(gc.get_objects())
        return after[0] - before[0], after[1] - before[1]

    numbers = range(1000)
    gc.collect()
    gc.disable()
    try:
        counts()
        plain = counts()
        with Profile():
            counts()  # its functions are named once
            counted_calls = counts()
    finally:
        gc.enable()
    assert counted_calls == plain
