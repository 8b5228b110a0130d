"""Loaders of every kind yield the same as without recording, and fail in the same way."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, run, show
from nights import nightly_but

needs.module("torch")

KINDS = [
    "plain", "workers", "persistent", "prefetch", "timeout", "worker_init_fn", "pin_memory",
    "pinned", "drop_last", "iterable", "iterable workers", "iterable persistent", "batch_sampler",
    "getitems", "concat", "nested", "unhashable", "out of order",
]  # fmt: skip
USUAL = ["plain", "workers"]
BROKEN = ["item", "item in training", "collate", "collate in training", "timeout", "start"]
IN_THE_DATA = {"item": "ValueError", "collate": "KeyError", "collate in training": "KeyError"}
# Which of two lines of the loader hands a failed batch on depends on which worker was faster.
NUMBERS = re.compile(
    r"\(pid(\(s\))? [\d, ]+\)|0x[0-9a-f]+|(?<=dataloader.py\", line )\d+(?=, in _next_data)"
)
DIED = re.compile(
    r"DataLoader worker \(pid(\(s\))? \d+\) (is killed by signal: Killed|exited unexpectedly)"
)
STEPSCOPE = (sys.executable, "-m", "stepscope", "run", "--quiet")


def both(
    program: str, kind: str, out: Path
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """Without us, and with us."""
    path = PROGRAMS / "torch" / program
    plain = run(sys.executable, path, kind, check=False)
    return plain, run(*STEPSCOPE, "-o", out, path, kind, check=False)


def errors(stderr: str) -> str:
    return NUMBERS.sub("(number)", stderr)


@pytest.mark.parametrize("kind", nightly_but(USUAL, KINDS))
def test_a_loader_works_as_without_a_recorder(kind: str, tmp_path: Path) -> None:
    plain, recorded = both("input_kinds.py", kind, tmp_path / "run")
    assert plain.returncode == 0, plain.stderr
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    assert errors(recorded.stderr) == errors(plain.stderr)
    answer = json.loads(show(tmp_path / "run", "input", "--json"))
    assert answer["loader"]["steps"] > 0
    assert not answer["notes"]
    assert any(row["stage"] == "fetch" for row in answer["stages"])


@pytest.mark.parametrize("kind", nightly_but(["item", "collate"], BROKEN))
def test_a_failure_reaches_the_script_unchanged(kind: str, tmp_path: Path) -> None:
    plain, recorded = both("input_broken.py", kind, tmp_path / "run")
    assert plain.returncode == 1
    assert recorded.returncode == 1
    assert errors(recorded.stderr) == errors(plain.stderr)
    notes = " ".join(json.loads(show(tmp_path / "run", "input", "--json"))["notes"])
    if kind in IN_THE_DATA:
        assert f"Fetching a batch ended with {IN_THE_DATA[kind]}" in notes
        assert "input_broken.py:" in notes


def test_a_killed_worker_is_torchs_error_and_named_in_the_report(tmp_path: Path) -> None:
    plain, recorded = both("input_broken.py", "killed", tmp_path / "run")
    assert plain.returncode == recorded.returncode == 1
    for done in (plain, recorded):  # where the training process is at that moment is chance
        assert DIED.search(done.stderr)
    assert "loader_stages.py" not in recorded.stderr
    answer = json.loads(show(tmp_path / "run", "input", "--json"))
    died = DIED.search(recorded.stderr)
    assert died is not None
    assert died[0] in " ".join(answer["notes"])
    assert answer["loader"]["steps"] > 0


def test_torchs_warning_points_to_the_script(tmp_path: Path) -> None:
    plain, recorded = both("input_broken.py", "length", tmp_path / "run")
    assert "Length of IterableDataset" in plain.stderr
    assert errors(recorded.stderr) == errors(plain.stderr)


def test_an_inner_loaders_samples_do_not_count_twice(tmp_path: Path) -> None:
    program = PROGRAMS / "torch" / "input_kinds.py"
    run(*STEPSCOPE, "-o", tmp_path / "run", program, "nested")
    answer = json.loads(show(tmp_path / "run", "input", "--json"))
    steps = json.loads(show(tmp_path / "run", "steps", "--json"))
    assert answer["loader"]["batch_size"] == 8
    assert steps["rate"]["samples_per_s"] == pytest.approx(8 * steps["rate"]["per_s"])


def test_nothing_is_left_in_torch_when_recording_stops(tmp_path: Path) -> None:
    program = PROGRAMS / "torch" / "input_restored.py"
    done = run(sys.executable, program, folder=tmp_path)
    assert done.stdout.split() == ["774", "774"]
    answer = json.loads(show(tmp_path / "profiled", "input", "--json"))
    assert answer["loader"]["batch_size"] == 4
