"""Each program of tests/programs/transparency does under `stepscope run` what it does without."""

import json
from pathlib import Path

import pytest

from losses_in_runs import losses_in
from transparency.both import PROGRAMS, Both, both, program, stdin_for

ARGUMENTS = {
    "several_processes": [["fork"], ["spawn"], ["forkserver"]],
    "who_it_is": [["a b", "--", "--quiet", "-o"]],
}
MAY_LOSE = ("recursion",)  # no room for our own functions at its deepest point
CASES = [
    pytest.param(
        file.stem,
        arguments,
        id="-".join([file.stem, *arguments[:1]]),
        marks=pytest.mark.may_lose if file.stem in MAY_LOSE else (),
    )
    for file in sorted(PROGRAMS.glob("*.py"))
    for arguments in ARGUMENTS.get(file.stem, [[]])
]


def assert_the_same(outcomes: Both) -> None:
    plain, recorded = outcomes.plain, outcomes.recorded
    for line in plain.stdout.splitlines():
        if line.startswith("skipped: "):
            pytest.skip(line)
    assert recorded.stdout.splitlines() == plain.stdout.splitlines()
    assert recorded == plain
    assert plain.stdout, "a program that prints nothing shows nothing"


def was_recorded(run: Path) -> bool:
    """A main process with some of its code in its names."""
    mains = [
        file.parent
        for file in run.glob("proc-*/process.json")
        if json.loads(file.read_text())["role"] == "main"
    ]
    return any('"is": "code"' in (main / "names.jsonl").read_text() for main in mains)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_a_program_does_the_same_as_without_us(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    words = [f"{name}.py", *arguments]
    outcomes = both(tmp_path, program(name), words, stdin=stdin_for(name))
    assert_the_same(outcomes)
    assert was_recorded(outcomes.run)


PACKAGE = {
    "main.py": "import package\nfrom package import part\nprint(package, part.f())\n",
    "package/__init__.py": "",
    "package/part.py": "def f():\n    return __name__\n",
}


def test_a_package_with_an_empty_init_is_imported_and_nothing_is_lost(tmp_path: Path) -> None:
    outcomes = both(tmp_path, PACKAGE, ["main.py"])
    assert_the_same(outcomes)
    assert not list(losses_in(outcomes.run))


SUBINTERPRETER = """
import sys
name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
interpreters = __import__(name)
interpreter = interpreters.create()
for number in range(3):
    interpreters.run_string(interpreter, "exec('open(__import__(\\"os\\").devnull).close()')")
interpreters.destroy(interpreter)
print("done")
"""


def test_code_in_another_interpreter_runs_as_without_us(tmp_path: Path) -> None:
    assert_the_same(both(tmp_path, {"main.py": SUBINTERPRETER}, ["main.py"]))
