"""What came with Python 3.14 does under `stepscope run` what it does without, and is recorded."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from asking import answer
from transparency.both import PROGRAMS, Both, both
from transparency.test_programs import assert_the_same

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="it came with Python 3.14")
NEW = PROGRAMS.parent / "python314"


def outcomes_of(name: str, folder: Path) -> Both:
    file = f"{name}.py"
    text = (NEW / file).read_text()
    return both(folder, {file: text}, [file], options=["--exact"])


def hits_of(run: Path, function: str) -> Counter[str]:
    """By what stands on the line; in all processes."""
    hits: Counter[str] = Counter()
    functions: list[dict[str, Any]] = answer(run, "lines")["functions"]
    for found in functions:
        if found["function"] == function:
            hits.update({line["source"].strip(): line["hits"] for line in found["lines"]})
    return hits


def roles_of(run: Path) -> list[str]:
    return sorted(json.loads(file.read_text())["role"] for file in run.glob("proc-*/process.json"))


# program, one of its functions, a line of that, how often it runs
LINES = [
    ("deferred_annotations", "noted", "return kind", 15),
    ("deferred_annotations", "step", "return [batch * weight]", 3),
    ("template_strings", "build", "value('b')", 4),
    ("template_strings", "text", "for part in template", 5),
    ("other_interpreters", "main", "print(queue.get())", 3),
    ("branches_of_another_tool", "choose", "taken += 1", 16),
    ("told_from_outside", "tell", "if done.returncode:", 3),
    ("forkserver_by_default", "<module>", "process.join()", 1),
]


@pytest.mark.parametrize(("name", "function", "line", "hits"), LINES)
def test_a_program_of_3_14_does_the_same_and_its_lines_are_counted(
    name: str, function: str, line: str, hits: int, tmp_path: Path
) -> None:
    outcomes = outcomes_of(name, tmp_path)
    assert_the_same(outcomes)
    assert outcomes.plain.status == 0, outcomes.plain.stderr
    assert hits_of(outcomes.run, function)[line] == hits


def test_processes_that_the_fork_server_started_are_recorded(tmp_path: Path) -> None:
    outcomes = outcomes_of("forkserver_by_default", tmp_path)
    assert outcomes.plain.stdout.startswith("None forkserver\n")
    assert roles_of(outcomes.run).count("worker") >= 5
