"""TensorFlow behaves as without us: errors, their tracebacks, its profiler, and what it prints."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, plain, run
from frameworks.tf_runs import notes_of, steps_of

needs.require("tensorflow")

TF = PROGRAMS / "tf"
WAYS = (
    "middle",
    pytest.param("whole", marks=pytest.mark.nightly),
    pytest.param("callback", marks=pytest.mark.nightly),
    pytest.param("thrown", marks=pytest.mark.nightly),
    pytest.param("twice", marks=pytest.mark.nightly),
)


def recorded(program: Path, out: Path, *arguments: object) -> Any:
    command = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out, program)
    return run(*command, *(str(each) for each in arguments))


def steady(text: str) -> str:
    """Without what differs in every process."""
    text = re.sub(r"0x[0-9a-f]{8,}|__autograph_generated_file\w+|/tmp/\S+", "…", text)
    return re.sub(r"id=\d+|\d{10,}|_\d+\b", "…", text)


@pytest.mark.nightly
def test_errors_look_the_same(tmp_path: Path) -> None:
    expected = steady(plain(TF / "raising.py"))
    assert expected.count("Traceback (most recent call last)") >= 11
    found = steady(recorded(TF / "raising.py", tmp_path / "run").stdout)
    assert "stepscope" not in found
    assert found == expected


def test_who_imports_it_for_something_else_pays_nothing(tmp_path: Path) -> None:
    """Hooks only: its profiler is never started, and the steps are those of the loop."""
    done = recorded(TF / "only_a_utility.py", tmp_path / "run")
    assert done.stdout.strip()
    assert not list((tmp_path / "run").glob("proc-*/ops-*"))
    assert steps_of(tmp_path / "run")["steps"] in (29, 30)
    assert not notes_of(tmp_path / "run")


@pytest.mark.parametrize("way", WAYS)
def test_the_scripts_own_profiler_goes_first(tmp_path: Path, way: str) -> None:
    for name in ("alone", "beside"):
        (tmp_path / name).mkdir()
    program = TF / "profiles_itself.py"
    alone = run(sys.executable, program, way, tmp_path / "alone")
    beside = recorded(program, tmp_path / "run", way, tmp_path / "beside")
    assert beside.stdout == alone.stdout
    theirs = [sorted(path.name for path in (tmp_path / name).rglob("*.xplane.pb"))
              for name in ("alone", "beside")]  # fmt: skip
    assert theirs[0] == theirs[1]
    ours = [path.read_bytes() for path in (tmp_path / "run").glob("proc-*/ops-*.xplane.pb")]
    if way != "thrown":  # their trace is the only remaining window
        assert ours == [path.read_bytes() for path in (tmp_path / "beside").rglob("*.xplane.pb")]
    assert not [
        note for note in notes_of(tmp_path / "run") if "rofil" in note or "perators" in note
    ]
    assert json.dumps(steps_of(tmp_path / "run")["steps"]) == "16"
