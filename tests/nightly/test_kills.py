"""`kill -9` at any moment: every step that had finished is in the report."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent.parent / "programs" / "nightly" / "steps.py"
MOMENTS = 60
LATEST_STEP = 80
FEWEST_STEPS = 12  # a loop is known as one after 10 turns
WAIT_S = 60


def recorded_process(run: Path) -> int:
    (process,) = run.glob("proc-*/process.json")
    pid = json.loads(process.read_text())["pid"]
    assert isinstance(pid, int)
    return pid


def killed_after(steps: int, how: str, run: Path) -> int:
    """Kill the script when it has said that many steps; returns how many it did say."""
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(run)]
    with subprocess.Popen(
        [*command, str(PROGRAM), how], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read(steps)
        for _ in range(random.randrange(20_000)):  # somewhere inside the next step
            pass
        os.kill(recorded_process(run), signal.SIGKILL)
        said += process.communicate(timeout=WAIT_S)[0]
    assert process.returncode == -signal.SIGKILL
    return len(said)


def steps_reported(run: Path) -> int:
    shown = subprocess.run(
        [sys.executable, "-m", "stepscope", "show", str(run), "steps", "--json"],
        capture_output=True,
        check=True,
    )
    steps = json.loads(shown.stdout)["steps"]
    assert isinstance(steps, int)
    return steps


def check(how: str, seed: int, folder: Path) -> None:
    random.seed(seed)
    finished = killed_after(random.randrange(FEWEST_STEPS, LATEST_STEP), how, folder / "run")
    # One more may have finished without a chance to say so.
    assert finished <= steps_reported(folder / "run") <= finished + 1


@pytest.mark.parametrize("how", ["marked", "looped"])
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_run_keeps_every_finished_step(how: str, seed: int, tmp_path: Path) -> None:
    check(how, seed, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["marked", "looped"])
@pytest.mark.parametrize("seed", range(100, 100 + MOMENTS))
def test_a_run_killed_at_many_moments_keeps_every_finished_step(
    how: str, seed: int, tmp_path: Path
) -> None:
    check(how, seed, tmp_path)
