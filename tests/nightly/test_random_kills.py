"""A thousand kills at any instruction: each leaves a run that opens, with every finished step."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import needs
from asking import answer as shown
from clean_environment import environment
from stepscope.analyze.run import load, select
from stepscope.record.boot import environment_for
from stepscope.store import format as fmt

PROGRAM = Path(__file__).parent.parent / "programs" / "nightly" / "dies_any_time.py"
TRIED = Path(__file__).parent.parent / "programs" / "nightly" / "steps.py"
KILLS = 10  # in one test
FEWEST = {"marked": 0, "looped": 10, "torch": 2, "workers": 2}  # turns that make a step, by design
LATEST_S = {"marked": 0.1, "looped": 0.3, "torch": 0.3, "workers": 0.6}  # after the first step
WAIT_S = 60


def new_run(folder: Path) -> Path:
    folder.mkdir()
    fields = {"format": fmt.FORMAT_VERSION, "options": {}}
    (folder / fmt.RUN_FILE).write_text(json.dumps(fields))
    return folder


def start(run: Path, how: str, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), how],
        env=environment_for(str(run), environment()) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """All that it has started too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def killed(process: subprocess.Popen[bytes], moment: random.Random, latest_s: float) -> int:
    """Kill it some time after its first step, or before; returns how many it said."""
    assert process.stdout is not None
    said = b""
    if moment.random() < 0.9:
        said = process.stdout.read(1)
        time.sleep(moment.uniform(0, latest_s) ** 2 / latest_s)  # early ones are more frequent
    else:
        time.sleep(moment.uniform(0, 0.3))
    kill(process)
    with process:
        said += process.stdout.read()
    return len(said)


def check(run: Path, how: str, finished: int, rank: int | None = None) -> None:
    process = select(load(run), rank=rank)
    steps = shown(run, "steps", "--each", *(() if rank is None else ("--rank", str(rank))))
    least = finished
    if how == "marked" and finished:
        assert process is not None
        assert finished <= len(process.step_marks) <= finished + 1
        # Where turns are too quick to be stamped, nobody knows when the first step began.
        least = finished - 1
    if finished > FEWEST[how]:
        # One more may have finished without a chance to say so.
        assert least <= steps["steps"] <= finished + 1
        starts = [step["start_ns"] for step in steps["each"]]
        assert starts == sorted(starts)


def one_process(folder: Path, how: str, seed: int) -> None:
    moment, run = random.Random(seed), new_run(folder / str(seed))
    check(run, how, killed(start(run, how), moment, LATEST_S[how]))


def two_ranks(folder: Path, seed: int) -> None:
    moment, run = random.Random(seed), new_run(folder / str(seed))
    ranks = [start(run, "marked", RANK=str(rank), WORLD_SIZE="2") for rank in range(2)]
    finished = [killed(rank, moment, LATEST_S["marked"]) for rank in ranks]
    for rank, count in enumerate(finished):
        if count:
            check(run, "marked", count, rank)


@pytest.mark.parametrize("how", ["marked", "looped"])
def test_a_process_killed_at_any_instruction_leaves_its_finished_steps(
    how: str, tmp_path: Path
) -> None:
    for seed in range(2):
        one_process(tmp_path, how, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(0, 500, KILLS))
def test_marked_steps_survive_any_kill(seed: int, tmp_path: Path) -> None:
    for each in range(seed, seed + KILLS):
        one_process(tmp_path, "marked", each)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(500, 650, KILLS))
def test_turns_of_a_loop_survive_any_kill(seed: int, tmp_path: Path) -> None:
    for each in range(seed, seed + KILLS):
        one_process(tmp_path, "looped", each)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(650, 800, KILLS))
def test_steps_of_ranks_survive_any_kill(seed: int, tmp_path: Path) -> None:
    for each in range(seed, seed + KILLS):
        two_ranks(tmp_path, each)


@pytest.mark.nightly
@needs.package("torch")
@pytest.mark.parametrize("how", ["torch", "workers"])
@pytest.mark.parametrize("seed", range(800, 890, KILLS))
def test_steps_of_a_torch_training_survive_any_kill(how: str, seed: int, tmp_path: Path) -> None:
    for each in range(seed, seed + KILLS):
        one_process(tmp_path, how, each)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(980, 1000))
def test_every_run_of_a_killed_trial_opens(seed: int, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "stepscope", "try"]
    process = subprocess.Popen(
        [*words, str(TRIED), "marked"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(random.Random(seed).uniform(0.5, 12))
    kill(process)
    process.wait(WAIT_S)
    for file in tmp_path.rglob(fmt.RUN_FILE):
        load(file.parent)
        shown(file.parent, "steps")
