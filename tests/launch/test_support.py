"""Where stepscope records, and what it says on a Python that is newer than it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from asking import answer
from clean_environment import environment
from stepscope.launch.support import NEWEST, untested_python

# As it will be on a later Python: what was tested ends before this one.
ON_A_NEWER_ONE = """
import sys
from stepscope.launch import support
support.NEWEST = (3, 10)
from stepscope.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_python_newer_than_the_tests_is_warned_about_in_one_line() -> None:
    newer = (NEWEST[0], NEWEST[1] + 1)
    sentence = untested_python(newer)
    assert sentence is not None
    assert sentence.startswith(f"Python 3.{newer[1]} is newer than what stepscope was tested on")
    assert "\n" not in sentence


@pytest.mark.parametrize("version", [(3, 11), NEWEST])
def test_a_python_that_is_tested_is_not(version: tuple[int, int]) -> None:
    assert untested_python(version) is None


def test_on_a_newer_python_a_script_is_recorded_after_one_line_of_warning(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("for turn in range(3):\n    print(turn)\n")
    words = ["run", "--exact", "-o", "run", "train.py"]
    done = subprocess.run(
        [sys.executable, "-c", ON_A_NEWER_ONE, *words],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n1\n2\n"
    assert done.stderr.count("is newer than what stepscope was tested on") == 1
    assert done.stderr.splitlines()[0].startswith("stepscope: Python 3.")
    (module,) = answer(tmp_path / "run", "lines")["functions"]
    assert {line["line"]: line["hits"] for line in module["lines"]} == {1: 4, 2: 3}


def test_no_newer_python_is_refused_by_pip() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11"
