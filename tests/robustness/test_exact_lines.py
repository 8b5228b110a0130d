"""Lines on real runs: hits are line_profiler's, times are the program's own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from asking import answer as shown
from clean_environment import environment
from robustness.running import line_rows, record
from transparency.both import PATIENCE_S

LINES = Path(__file__).parent.parent / "programs" / "lines"
Hits = dict[tuple[str, int], dict[int, int]]  # (function, first line) to line to hits


def run_exactly(script: Path, folder: Path) -> Path:
    words = [sys.executable, "-m", "stepscope", "run", "--quiet", "--exact", "-o", "run"]
    subprocess.run(
        [*words, str(script)],
        cwd=folder,
        env=environment(),
        check=True,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    return folder / "run"


def our_hits(run: Path) -> Hits:
    functions = shown(run, "lines", "--top", "1000")["functions"]
    return {
        (function["function"], function["first_line"]): {
            row["line"]: row["hits"] for row in function["lines"] if row["hits"]
        }
        for function in functions
    }


def their_hits(script: Path, folder: Path) -> Hits:
    """Of the real line_profiler, in a process of its own, on every function of the program."""
    driver = Path(__file__).parent.parent / "programs" / "robustness" / "with_line_profiler.py"
    done = subprocess.run(
        [sys.executable, str(driver), str(script)],
        cwd=folder,
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
    )
    rows: list[Any] = json.loads(done.stderr.splitlines()[-1])
    return {
        (name, first): {line: hits for line, hits in lines if hits} for name, first, lines in rows
    }


@pytest.mark.parametrize("script", sorted(LINES.glob("*.py")), ids=lambda path: path.stem)
def test_hits_are_those_of_line_profiler(script: Path, tmp_path: Path) -> None:
    ours = our_hits(run_exactly(script, tmp_path))
    theirs = their_hits(script, tmp_path)
    assert theirs
    assert {key: ours.get(key) for key, lines in theirs.items() if lines} == {
        key: lines for key, lines in theirs.items() if lines
    }


def test_with_threads_hits_are_the_programs_own_count(tmp_path: Path) -> None:
    done = record(tmp_path, "threads_that_count", options=["--quiet", "--exact"])
    expected = {int(line): hits for line, hits in json.loads(done.stdout).items()}
    rows = line_rows(tmp_path / "run")
    assert {line: rows[line]["hits"] for line in expected} == expected


def test_times_of_lines_of_a_millisecond_are_within_three_percent(tmp_path: Path) -> None:
    done = record(tmp_path, "lines_of_a_millisecond", options=["--quiet", "--exact"])
    output = json.loads(done.stdout)
    real = {int(line): ns for line, ns in output["lines"].items()}
    rows = line_rows(tmp_path / "run")
    assert len(real) == 5
    assert {line: rows[line]["ns"] for line in real} == {
        line: pytest.approx(ns, abs=0.03 * ns + output["without_core_ns"])
        for line, ns in real.items()
    }
