"""However a process dies, what it had done is in the run, and the report says how it ended."""

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from asking import answer as shown
from clean_environment import environment
from robustness.running import command, line_rows, record
from transparency.both import PATIENCE_S

PROGRAM = "steps_until_it_dies"
ENDINGS = {
    "_exit": (7, "exit status 7"),
    "segfault": (-signal.SIGSEGV, "SIGSEGV"),
    "abort": (-signal.SIGABRT, "SIGABRT"),
    "terminated": (-signal.SIGTERM, "SIGTERM"),
    "illegal": (-signal.SIGILL, "SIGILL"),
    "bus": (-signal.SIGBUS, "SIGBUS"),
    "memory": (1, "exit status 1"),
    "killed": (-signal.SIGKILL, "SIGKILL"),
    "exception": (1, "exit status 1"),
    "exit": (3, "exit status 3"),
}


def main_process(run: Path) -> int:
    (file,) = run.glob("proc-*/process.json")
    pid = json.loads(file.read_text())["pid"]
    assert isinstance(pid, int)
    return pid


def killed_at(moment: random.Random, run: Path, folder: Path) -> int:
    """Kill -9 after some step and some while into the next; returns the last step it said."""
    wanted = moment.randrange(1, 120)
    with subprocess.Popen(
        command(run, PROGRAM, "never", "0", options=["--quiet"]),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for _ in range(wanted):
            process.stdout.readline()
        for _ in range(moment.randrange(30_000)):
            pass
        os.kill(main_process(run), signal.SIGKILL)
        said = process.stdout.read().split()
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
    return int(said[-1]) if said else wanted


def check(seed: int, folder: Path) -> None:
    finished = killed_at(random.Random(seed), folder / "run", folder)
    steps = shown(folder / "run", "steps", "--each")
    # One more may have ended before the program could say so.
    assert finished <= steps["steps"] <= finished + 1
    assert len(steps["each"]) == steps["steps"]
    starts = [step["start_ns"] for step in steps["each"]]
    assert starts == sorted(starts)


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_process_keeps_every_finished_step(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [*range(5, 15), *range(1000, 1200)])
def test_a_process_killed_at_many_moments_keeps_every_finished_step(
    seed: int, tmp_path: Path
) -> None:
    check(seed, tmp_path)


@pytest.mark.parametrize("how", ENDINGS)
def test_a_dying_process_leaves_its_steps_and_how_it_ended(how: str, tmp_path: Path) -> None:
    status, words = ENDINGS[how]
    done = record(tmp_path, PROGRAM, how, "25")
    assert done.returncode == status
    assert done.stdout.split()[-1] == "25"
    assert words in done.stderr
    assert shown(tmp_path / "run", "steps")["steps"] == 25
    hits = {row["source"].strip(): row["hits"] for row in line_rows(tmp_path / "run").values()}
    assert hits["stepscope.step()"] == 25
