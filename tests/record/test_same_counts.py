"""Every Python counts what 3.13 counts, hits of lines and calls, but for what CPython changed."""

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from compared_calls import COMPARED
from record.counts_of_programs import FILE, Counts, counts_of

ON_3_13: dict[str, Any] = json.loads(FILE.read_text())
# What line_profiler and cProfile count there, too: other tests compare with them.
CHANGED_IN_3_14: dict[str, Counts] = {
    # A generator that is closed where it waits is thrown into; 3.13 just ended it.
    "async_throw": {"calls": {"Wait.__await__:5": 16}},
    "generators": {"calls": {"numbers:4": 7}},
    # The end of a loop is the line of its `for` once more, or is not any more.
    "class_bodies": {"lines": {"8": 3}},
    "comprehensions": {"lines": {"7": 15}},
    # Annotations are a function, which is called when somebody asks for them.
    "match_statement": {"lines": {"6": 6, "28": 5}, "calls": {"Point.__annotate__:6": 1}},
    # A `finally` that is entered from the end of a loop gives no event.
    "step_loops": {"lines": {"103": 5}},
}
# By day, what versions of CPython have compiled differently.
BY_DAY = {"exceptions", "generators", "returns_through_finally", "step_loops"}
PROGRAMS = [
    pytest.param(path, id=path.stem, marks=() if path.stem in BY_DAY else pytest.mark.nightly)
    for path in COMPARED
]


def expected(program: str) -> Counts:
    counts: Counts = copy.deepcopy(ON_3_13[program])
    if sys.version_info >= (3, 14):
        for kind, changed in CHANGED_IN_3_14.get(program, {}).items():
            counts[kind] |= changed
    return counts


def test_every_program_has_its_counts() -> None:
    assert ON_3_13.keys() == {path.stem for path in COMPARED}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="what CPython compiled was other")
@pytest.mark.parametrize("program", PROGRAMS)
def test_counts_are_those_of_3_13(program: Path, tmp_path: Path) -> None:
    assert counts_of(program, tmp_path) == expected(program.stem)
