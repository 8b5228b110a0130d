"""JAX behaves as without us: what looks at its functions, what they raise, its own profiler."""

import json
import re
import socket
import sys
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, plain, run, show

needs.module("jax")
needs.module("optax")

JAX = PROGRAMS / "jax"


def recorded(
    program: Path, out: Path, *arguments: str | Path, check: bool = True
) -> tuple[str, str]:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out)
    done = run(*stepscope, program, *arguments, check=check)
    return done.stdout, done.stderr


def unaddressed(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{6,}", "…", text)


def test_readers_and_transformations_see_no_difference(tmp_path: Path) -> None:
    program = JAX / "readers.py"
    assert unaddressed(recorded(program, tmp_path / "run")[0]) == unaddressed(plain(program))


@pytest.mark.parametrize("filtering", ["auto", pytest.param("off", marks=pytest.mark.nightly)])
def test_errors_look_the_same(
    tmp_path: Path, filtering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without JAX leaving out its own frames."""
    monkeypatch.setenv("JAX_TRACEBACK_FILTERING", filtering)
    program = JAX / "raising.py"
    without = run(sys.executable, program, check=False)
    stdout, stderr = recorded(program, tmp_path / "run", check=False)
    assert without.returncode != 0
    assert stdout == without.stdout
    assert unaddressed(stderr) == unaddressed(without.stderr)
    assert stderr.count("Traceback (most recent call last)") > 8


def test_a_recording_leaves_jax_as_it_was(tmp_path: Path) -> None:
    printed = plain(JAX / "comes_and_goes.py", str(tmp_path / "run"))
    assert printed.splitlines()[1] == "True True"


@pytest.mark.nightly
def test_the_scripts_own_profiler_goes_first(tmp_path: Path) -> None:
    program = JAX / "profiles_itself.py"
    port = free_port()
    without = run(sys.executable, program, tmp_path / "alone", port)
    printed = recorded(program, tmp_path / "run", tmp_path / "recorded", port)
    assert printed == (without.stdout, without.stderr)
    kept = sorted(path.name.removesuffix(".gz") for path in tmp_path.glob("run/proc-*/ops-*"))
    assert len(kept) == 2  # both are the script's own; ours was dropped
    assert json.loads(show(tmp_path / "run", "ops", "--json"))["ops"]


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return str(listener.getsockname()[1])
