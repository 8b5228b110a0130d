"""What 64 bits cost is measured where the run was recorded, and kept in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.rules import float64_compute
from stepscope.advise.rules.float64_compute import ratio_of
from stepscope.analyze.run import load
from stepscope.cli import run as run_command
from stepscope.store.format import SUPERVISOR_FILE
from stepscope.store.reader import Run


def recorded(path: Path) -> Path:
    run = RunBuilder(path)
    run.process().write(ended_ns=MS)
    run.supervisor(ended_ns=MS)
    return path


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that shows the run is of another kind."""
    monkeypatch.setattr(float64_compute, "measured_ratio", lambda: 3.0)


def with_ratio(folder: Path, ratio: object) -> Run:
    path = folder / SUPERVISOR_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "float64_ratio": ratio}))
    return load(folder)


@pytest.mark.usefixtures("elsewhere")
def test_a_run_says_the_same_on_any_machine(tmp_path: Path) -> None:
    assert ratio_of(with_ratio(recorded(tmp_path / "run"), 1.9)) == (1.9, True)


@pytest.mark.usefixtures("elsewhere")
def test_a_run_of_before_is_judged_by_the_machine_that_shows_it(tmp_path: Path) -> None:
    assert ratio_of(load(recorded(tmp_path / "run"))) == (3.0, False)


@pytest.mark.parametrize("has_operators", [True, False])
def test_it_is_measured_after_the_script_where_operators_were_recorded(
    has_operators: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_REPORT", "off")
    folder = recorded(tmp_path / "run [1]")
    if has_operators:
        next(folder.glob("proc-*")).joinpath("ops-1.json").write_text("{}")
    run_command._finish(str(folder), str(folder), quiet=True)
    ending = load(folder).supervisor
    assert ending is not None
    assert ending.exit_status == 0
    assert (ending.float64_ratio is not None) == has_operators
    assert 1.6 <= (ending.float64_ratio or 2.0) <= 3.0


def test_it_is_measured_in_one_thread() -> None:
    """Threads that share a product out spin while they wait for each other, for seconds on a busy
    machine, and all ratios are then the same. A pool that was just made spins as well, but once."""
    code = (
        "import time; from stepscope.advise.gain.precision import measured_ratio; "
        "others = lambda: time.process_time_ns() - time.thread_time_ns(); "
        "measured = lambda: [measured_ratio() for _ in range(40)]; "
        "measured(); of_others, own = others(), time.thread_time_ns(); "
        "measured(); print(others() - of_others, time.thread_time_ns() - own)"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    of_others, own = map(int, ended.stdout.split())
    assert of_others < own / 20
