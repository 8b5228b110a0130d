"""Each program of tests/programs/transparency does with `--calls`, too, what it does without us."""

import sys
from pathlib import Path

import pytest

from transparency.both import both, program, stdin_for
from transparency.test_programs import CASES, assert_the_same

# What no profiler can help: it costs a level of recursion in a C function called on 3.11, and 3.12
# and later keep notes about instrumented code, which tracemalloc sees.
DIFFERENT = {"traced_memory"} if sys.version_info >= (3, 12) else {"recursion"}


# Without calls all of them run in every check: here each fifth does, the others at night.
SOME = [
    pytest.param(
        *case.values,
        id=case.id,
        marks=[*case.marks, *([pytest.mark.nightly] if number % 5 else [])],
    )
    for number, case in enumerate(CASES)
]


@pytest.mark.parametrize(("name", "arguments"), SOME)
def test_a_program_does_the_same_with_its_calls_counted(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    if name in DIFFERENT:
        pytest.skip(f"{name} differs under any profiler that counts calls on this Python")
    words = [f"{name}.py", *arguments]
    outcomes = both(tmp_path, program(name), words, options=["--calls"], stdin=stdin_for(name))
    assert_the_same(outcomes)
    assert list(outcomes.run.glob("proc-*/calls.bin"))
