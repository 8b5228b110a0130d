"""Limits on memory: what a script can do under them without us, it can do with us."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from asking import answer as shown
from clean_environment import environment
from nights import nightly_but
from robustness.running import PROGRAMS, record
from transparency.both import PATIENCE_S

FILLED_MB = 150
SPARE_MB = 16  # our modules take 9 of them


def fill(folder: Path, before: str, *arguments: str, recorded: bool) -> tuple[int, str, str]:
    """NumPy with one thread: each takes address space of its own."""
    words: Sequence[str] = [sys.executable]
    if recorded:
        words = [*words, "-m", "stepscope", "run", "--quiet", "-o", "run"]
    done = subprocess.run(
        [
            "sh",
            "-c",
            f'{before} exec "$@"',
            "sh",
            *words,
            PROGRAMS / "near_its_limit.py",
            *arguments,
        ],
        cwd=folder,
        env={**environment(), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout, done.stderr


def peak_mb(folder: Path) -> int:
    status, _, said = fill(folder, "", str(FILLED_MB), "none", "0", recorded=False)
    assert status == 0, said
    return int(said.split("peak")[1])


def test_a_script_near_the_shells_limit_has_its_memory(tmp_path: Path) -> None:
    limit = f"ulimit -v {(peak_mb(tmp_path) + SPARE_MB) * 1024};"
    arguments = str(FILLED_MB), "none", "0"
    plain = fill(tmp_path, limit, *arguments, recorded=False)
    ours = fill(tmp_path, limit, *arguments, recorded=True)
    assert plain[0] == 0, plain[2]
    assert ours[:2] == plain[:2], ours[2]
    assert list((tmp_path / "run").glob("proc-*/events.bin"))


@pytest.mark.parametrize("which", nightly_but(["address space"], ["address space", "data"]))
def test_a_limit_that_the_script_sets_later_leaves_it_its_memory(
    which: str, tmp_path: Path
) -> None:
    """The thread that samples was started before: its addresses count."""
    arguments = str(FILLED_MB), which, str(FILLED_MB + 300)
    plain = fill(tmp_path, "", *arguments, recorded=False)
    ours = fill(tmp_path, "", *arguments, recorded=True)
    assert plain[0] == 0, plain[2]
    assert ours[:2] == plain[:2], ours[2]


def test_a_child_forked_under_a_limit_leaves_its_parents_files_alone(tmp_path: Path) -> None:
    done = record(tmp_path, "forks_under_a_limit", options=["--quiet"])
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert shown(tmp_path / "run", "steps")["steps"] == 20
