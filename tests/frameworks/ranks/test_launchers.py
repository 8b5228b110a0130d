"""However ranks are started, they are found, in one run; and one that is killed is named."""

import re
import sys
from pathlib import Path

import pytest

import needs
from frameworks.rank_runs import (
    DDP,
    SCRIPTS,
    STEPSCOPE,
    TORCHRUN,
    asked,
    processes,
    recorded,
    together,
    torchrun,
)
from frameworks.running import run

needs.module("torch")

BY_HAND = {
    "srun": [
        {
            "SLURM_PROCID": str(rank),
            "SLURM_NTASKS": "2",
            "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_JOB_ID": "77",
            "SLURM_STEP_ID": "0",
        }
        for rank in range(2)
    ],
    "mpirun": [
        {
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_SIZE": "2",
            "PMIX_NAMESPACE": "prterun-5@1",
        }
        for rank in range(2)
    ],
}
NAMES = {"srun": "slurm-77.0", "mpirun": "prterun-5-1"}


def ranks_of(folder: Path) -> list[tuple[int, int]]:
    """(rank, steps)."""
    return [(row["rank"], row["steps"]) for row in asked(folder, "ranks")["ranks"]]


@pytest.mark.nightly
@pytest.mark.parametrize("launcher", BY_HAND)
def test_ranks_of_other_launchers(tmp_path: Path, launcher: str) -> None:
    """Their variables, set by hand; two real processes that meet through a file."""
    command = (sys.executable, "-m", "stepscope", "run", DDP / "train.py", "-1", tmp_path / "meet")
    ended = together(command, tmp_path, BY_HAND[launcher])
    assert [status for status, _, _ in ended] == [0, 0], ended
    folder = tmp_path / "stepscope-runs" / NAMES[launcher]
    assert processes(folder) == [("rank", 0), ("rank", 1)]
    assert ranks_of(folder) == [(0, 30), (1, 30)]
    assert "recording all ranks" in ended[0][2]
    assert "stepscope" not in ended[1][2]


@pytest.mark.nightly
def test_torchrun_names_the_run_itself(tmp_path: Path) -> None:
    done = torchrun("-m", "stepscope", "run", DDP / "train.py", folder=tmp_path)
    assert done.stderr.count("stepscope:") == 1
    (folder,) = (path.parent for path in tmp_path.glob("stepscope-runs/*/run.json"))
    assert ranks_of(folder) == [(0, 30), (1, 30)]


def test_torchrun_below_stepscope(tmp_path: Path) -> None:
    """The launcher is the main process; answers are about rank 0."""
    run(*STEPSCOPE, tmp_path / "run", *TORCHRUN, DDP / "train.py", folder=tmp_path)
    assert processes(tmp_path / "run") == [("main", None), ("rank", 0), ("rank", 1)]
    assert ranks_of(tmp_path / "run") == [(0, 30), (1, 30)]
    assert asked(tmp_path / "run", "steps")["steps"] == 30
    assert asked(tmp_path / "run", "summary")["ending"]["exit_status"] == 0


@needs.package("lightning")
@pytest.mark.nightly
def test_lightnings_own_launcher(tmp_path: Path) -> None:
    run(*STEPSCOPE, tmp_path / "run", DDP / "lightning_ddp.py", folder=tmp_path)
    assert processes(tmp_path / "run") == [("main", 0), ("rank", 1)]
    assert ranks_of(tmp_path / "run") == [(0, 20), (1, 20)]
    assert asked(tmp_path / "run", "steps", "--rank", "1")["anchor"] == "batches of Lightning"


@needs.package("accelerate")
@pytest.mark.nightly
@pytest.mark.parametrize("is_inside", [True, False])
def test_accelerates_launcher(tmp_path: Path, is_inside: bool) -> None:
    options = "--multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    launch = (str(SCRIPTS / "accelerate"), "launch", *options.split(), "--dynamo_backend", "no")
    out, program = tmp_path / "run", DDP / "accelerated.py"
    if is_inside:
        run(*launch, "-m", *STEPSCOPE[2:], out, program, folder=tmp_path)
        assert processes(out) == [("rank", 0), ("rank", 1)]
    else:
        run(*STEPSCOPE, out, *launch, program, folder=tmp_path)
        assert processes(out) == [("main", None), ("rank", 0), ("rank", 1)]
    assert ranks_of(out) == [(0, 20), (1, 20)]


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_that_turn_out_to_be_ranks(tmp_path: Path, method: str) -> None:
    words = (DDP / "spawned.py", method, tmp_path / "meet")
    run(*STEPSCOPE, tmp_path / "run", *words, folder=tmp_path)
    assert processes(tmp_path / "run") == [("main", None), ("rank", 0), ("rank", 1)]
    assert ranks_of(tmp_path / "run") == [(0, 30), (1, 30)]


def test_a_rank_that_is_killed_is_named(tmp_path: Path) -> None:
    without = torchrun(DDP / "killed.py", folder=tmp_path, check=False)
    recording = recorded("killed.py", tmp_path / "run", check=False)
    assert without.returncode == recording.returncode == 1
    assert _verdict(recording.stderr) == _verdict(without.stderr)
    answer = asked(tmp_path / "run", "ranks")
    rows = {row["rank"]: row for row in answer["ranks"]}
    assert rows[1]["status"] == "killed"
    assert rows[1]["steps"] == 12
    assert rows[0]["steps"] == 12
    assert any(note.startswith("Rank 1 was killed after 12 steps") for note in answer["notes"])


def _verdict(stderr: str) -> list[str]:
    """How torchrun says that rank 1 ended."""
    return re.findall(r"exitcode +: -9|local_rank: 1\b|Signal 9 \(SIGKILL\)", stderr)
