"""PyTorch behaves as without us: results to the last bit, errors, graphs, and what readers see."""

import re
import sys
from pathlib import Path

import pytest

import needs
import stepscope as stepscope_package
from frameworks.loops import STEPS
from frameworks.running import PROGRAMS, plain, run
from nights import nightly_but

needs.module("torch")

TORCH = PROGRAMS / "torch"
USUAL = ["plain_loop", "gan"]
ODD = ["compiled", "compiled_with_breaks", "readers", "odd_objects"]


def recorded(program: Path, out: Path, *arguments: str, check: bool = True) -> tuple[str, str]:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out)
    done = run(*stepscope, program, *arguments, check=check)
    return done.stdout, done.stderr


def unaddressed(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{8,}|pid\(s\) [\d, ]+|process \d+", "…", text)


@pytest.mark.parametrize("name", nightly_but(USUAL, STEPS))
def test_losses_are_the_same_to_the_last_bit(tmp_path: Path, name: str) -> None:
    program = TORCH / f"{name}.py"
    assert recorded(program, tmp_path / "run")[0] == plain(program)


@pytest.mark.parametrize("name", nightly_but(["readers", "odd_objects"], ODD))
def test_graphs_readers_and_odd_objects_are_the_same(tmp_path: Path, name: str) -> None:
    program = TORCH / f"{name}.py"
    expected = unaddressed(plain(program))
    assert unaddressed(recorded(program, tmp_path / "run")[0]) == expected


def test_dynamo_looks_into_no_function_of_ours(tmp_path: Path) -> None:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    done = run(*stepscope, TORCH / "compiled_with_breaks.py", TORCH_LOGS="+dynamo")
    looked_at = re.findall(r"(?:start tracing|skipping:) (\w+) .*?(/\S+\.py)", done.stderr)
    assert ("forward", str(TORCH / "compiled_with_breaks.py")) in looked_at
    ours = str(Path(stepscope_package.__file__).parent)
    assert not [name for name, file in looked_at if file.startswith(ours)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("forward", ()),
        pytest.param("backward", (), marks=pytest.mark.nightly),
        pytest.param("optimizer", (), marks=pytest.mark.nightly),
        pytest.param("saving", (), marks=pytest.mark.nightly),
        pytest.param("dataset", ("0",), marks=pytest.mark.nightly),
        ("dataset", ("1",)),
    ],
)
def test_errors_look_the_same(tmp_path: Path, name: str, arguments: tuple[str, ...]) -> None:
    program = TORCH / f"raising/{name}.py"
    without = run(sys.executable, program, *arguments, check=False)
    stdout, stderr = recorded(program, tmp_path / "run", *arguments, check=False)
    assert without.returncode != 0
    assert stdout == without.stdout
    assert unaddressed(stderr) == unaddressed(without.stderr)
