"""Counts and times of `stepscope.Profile` are cProfile's: on whole programs, and to the tick."""

import cProfile
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compared_calls import COMPARED, THROWN_PAST
from profile_counts import Calls, Function, calls_of_program, fake_clock, times_of
from stepscope.profile import Profile


@pytest.mark.parametrize("program", COMPARED, ids=lambda path: path.stem)
def test_calls_recursion_and_callers_are_those_of_cprofile(program: Path, tmp_path: Path) -> None:
    theirs = calls_of_program("theirs", program, tmp_path)
    ours = calls_of_program("ours", program, tmp_path)
    if sys.version_info < (3, 12) and program.stem in THROWN_PAST:
        assert _calls(ours, program) == _calls(theirs, program)
        return
    assert ours.functions == theirs.functions
    assert ours.pairs == theirs.pairs


def _calls(counted: Calls, program: Path) -> dict[Function, int]:
    return {
        function: calls
        for function, (calls, _) in counted.functions.items()
        if function[0] == str(program)
    }


# --- times, by a clock that both share -----------------------------------------------------------


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ping(n: int) -> int:
    return len(str(n)) if n <= 0 else pong(n - 1) + pong(n - 3)


def pong(n: int) -> int:
    return n if n <= 0 else ping(n - 2)


def numbers(n: int) -> Any:
    for i in range(n):
        yield abs(i)


def depth(tree: list[Any]) -> int:
    return 1 + max(map(depth, tree), default=0)


def by_key(values: list[int]) -> list[int]:
    return sorted(values, key=lambda value: fib(value % 5))


def caught() -> str:
    try:
        return str(int("no number"))
    except ValueError as error:
        return repr(error)


def everything() -> None:
    fib(7), ping(9), sum(numbers(4)), depth([[], [[]], [[[]]]]), by_key([3, 1, 4, 1, 5]), caught()


OPTIONS: list[dict[str, Any]] = [{}, {"subcalls": False}, {"builtins": False}]


def run_all_of(profile: Profile | cProfile.Profile, options: dict[str, Any]) -> None:
    """From 3.14 on, cProfile's `runcall` forgets the options that it was made with."""
    profile.enable(**options)
    try:
        everything()
    finally:
        profile.disable()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("unit", [0.5, 0.0])
def test_times_are_those_of_cprofile_to_the_tick(options: dict[str, Any], unit: float) -> None:
    def timer() -> Callable[[], float]:
        read = fake_clock()
        return read if unit else lambda: read() / 1024  # seconds, and exact in binary

    ours, theirs = (
        kind(timer(), unit, **options) for kind in (Profile, functools.partial(cProfile.Profile))
    )
    ours.runcall(everything)
    run_all_of(theirs, options)
    assert times_of(ours) == times_of(theirs)
    assert max(total for _, _, total, _ in times_of(ours)[0].values()) > 0


def test_our_own_clock_counts_seconds() -> None:
    """No more than the elapsed time, and nested in each other."""
    import time

    profile = Profile()
    began = time.perf_counter()
    profile.runcall(everything)
    elapsed_s = time.perf_counter() - began
    functions, pairs = times_of(profile)
    assert all(0 <= own <= total for *_, total, own in functions.values())
    whole = next(f for name, f in functions.items() if name[2] == "everything")
    assert 0 < whole[2] <= elapsed_s * 1.001  # two clocks
    called = sum(
        total for (caller, _), (*_, total, _) in pairs.items() if caller[2] == "everything"
    )
    assert whole[2] == pytest.approx(whole[3] + called)


def test_recursion_takes_no_more_memory_than_its_functions() -> None:
    profile = Profile()
    profile.runcall(ping, 24)
    functions, pairs = times_of(profile)
    names = [name for _, _, name in functions]
    assert sorted(names) == ["<built-in method builtins.len>", "ping", "pong"]
    assert len(pairs) == 3


def test_deep_recursion_is_counted_to_its_end() -> None:
    def deep(n: int) -> int:
        return deep(n - 1) + 1 if n else 0

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(12_000)
    try:
        profile = Profile()
        assert profile.runcall(deep, 10_000) == 10_000
    finally:
        sys.setrecursionlimit(limit)
    # Other code may have a callback for the garbage collector, which is a call like any other.
    (entry,) = [each for each in profile.getstats() if "deep" in str(each.code)]
    assert (entry.callcount, entry.reccallcount) == (10_001, 10_000)
