"""Real runs compared: the same script with twice the work, on a machine that is busy."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.running import run
from stepscope.analyze.run import load
from stepscope.compare.compare import compare
from stepscope.model.comparison import ComparisonAnswer

WORK = Path(__file__).parents[1] / "programs" / "compare" / "work.py"


@contextlib.contextmanager
def beside_a_busy_process() -> Iterator[None]:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def recorded(folder: Path, *works: float) -> ComparisonAnswer:
    for number, work in enumerate(works):
        done = run("--quiet", "-o", str(folder / str(number)), str(WORK), str(work), cwd=folder)
        assert done.returncode == 0, done.stderr
    return compare(*(load(folder / str(number)) for number in range(2)))


@pytest.mark.nightly
def test_twice_the_work_is_found_beside_a_busy_process(tmp_path: Path) -> None:
    with beside_a_busy_process():
        answer = recorded(tmp_path, 1, 2)
    assert answer.significant, answer.verdict
    assert answer.speedup < 1
    assert answer.low <= 0.5 <= answer.high


@pytest.mark.nightly
def test_half_the_work_is_found_and_its_function_named(tmp_path: Path) -> None:
    answer = recorded(tmp_path, 2, 1)
    assert answer.significant, answer.verdict
    assert answer.low <= 2 <= answer.high
    most = max(
        (row for row in answer.changes if row.what == "function"), key=lambda row: row.share or 0
    )
    assert most.name == "update"
