"""The comparison with HTA ends, whatever HTA does, and says what it could not wait for."""

import sys

import pytest

from benchmarks.analysis import MB, Answered
from benchmarks.beside_hta import Asked, asked, compared

ENOUGH_S = 60


def test_what_ends_by_itself_has_its_whole_cost() -> None:
    found = asked([sys.executable, "-c", "pass"], ENOUGH_S)
    assert found.is_whole
    assert found.took.cpu_s > 0
    assert found.took.peak_bytes > 0


@pytest.mark.parametrize("signal", ["SIGXCPU", "SIGKILL"])
def test_what_is_stopped_has_used_so_much_at_least(signal: str) -> None:
    stops = f"import os, signal; os.kill(os.getpid(), signal.{signal})"
    found = asked([sys.executable, "-c", stops], ENOUGH_S)
    assert not found.is_whole
    assert found.took.peak_bytes > 0


def test_the_limit_is_that_of_the_program() -> None:
    says = "import resource, sys; sys.exit(resource.getrlimit(resource.RLIMIT_CPU)[0] != 60)"
    assert asked([sys.executable, "-c", says], ENOUGH_S).is_whole


def test_what_fails_by_itself_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="no such package"):
        asked([sys.executable, "-c", "raise SystemExit('no such package')"], ENOUGH_S)


@pytest.mark.parametrize(
    ("cpu_s", "is_whole", "shown"),
    [
        (100.0, True, ["4.0 s", "100.0 s", "25.0 times", "25 times", "yes"]),
        (80.0, True, ["4.0 s", "80.0 s", "20.0 times", "25 times", "**no**"]),
        (400.0, False, ["4.0 s", "over 400.0 s", "over 100.0 times", "25 times", "yes"]),
        (80.0, False, ["4.0 s", "over 80.0 s", "over 20.0 times", "25 times",
                       "not known: HTA was stopped"]),
    ],
)  # fmt: skip
def test_a_row_says_whether_it_is_a_least(cpu_s: float, is_whole: bool, shown: list[str]) -> None:
    theirs = Asked(Answered(0.0, cpu_s, 10 * MB), is_whole)
    cpu, memory = compared(2_000_000, Answered(0.0, 4.0, MB), theirs)
    assert cpu == ["2,000,000", "CPU time", *shown]
    assert memory[-1] == "yes"
