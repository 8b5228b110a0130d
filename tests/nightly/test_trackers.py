"""`--log` with the real trackers: what it adds to a script's own run, read with their tools."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/programs/trackers"
PATIENCE_S = 240.0
CURVES = {"step_ms", "step_ms_p90", "steps_per_s", "own_cost", "share/python", "share/profiler"}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the trackers are on Python 3.11"),
]


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of programs of an environment that has the trackers."""
    made = subprocess.run(
        [".ci/environments", "trackers"], cwd=ROOT, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr[-2000:]
    return ROOT / made.stdout.strip() / "bin"


def done(*command: str | Path, cwd: Path, **variables: str) -> str:
    words = [str(word) for word in command]
    kept = {name: value for name, value in os.environ.items() if name != "STEPSCOPE_REPORT"}
    process = subprocess.run(
        words, cwd=cwd, env={**kept, **variables}, capture_output=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]
    return process.stdout


def recorded(programs: Path, name: str, *arguments: str, cwd: Path, **variables: str) -> str:
    command = (programs / "stepscope", "run", "--log", "--quiet", "-o", "a", PROGRAMS / name)
    return done(*command, *arguments, cwd=cwd, **variables)


def kept(programs: Path, *where: str | Path, cwd: Path, **variables: str) -> Any:
    command = (programs / "python", PROGRAMS / "read_back.py", *where)
    return json.loads(done(*command, cwd=cwd, **variables).splitlines()[-1])


def until(holds: Callable[[], bool]) -> None:
    """Nobody waits for the process that logs, except this."""
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.2)


def summary_of(programs: Path, cwd: Path) -> Any:
    return json.loads(done(programs / "stepscope", "show", "a", "--json", cwd=cwd))["steps"]


def notes_in(run: Path) -> str:
    files = [*run.glob("notes.jsonl"), *run.glob("proc-*/names.jsonl")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return "\n".join(line for line in lines if '"is": "note"' in line)


# --- W&B ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [(), ("exit",)])
def test_wandb_gets_it_before_its_run_ends(
    programs: Path, tmp_path: Path, ends: tuple[str, ...]
) -> None:
    recorded(programs, "wandb_run.py", *ends, cwd=tmp_path)
    (folder,) = tmp_path.glob("wandb/offline-run-*")
    logged = kept(programs, "wandb", folder, cwd=tmp_path)
    losses = [row for row in logged["history"] if "loss" in row]
    ours = [row for row in logged["history"] if "stepscope/step_ms" in row]
    assert len(losses) == 60
    assert [row["_step"] for row in losses] == list(range(60))  # the script's own axis
    assert 10 <= len(ours) <= 50
    assert {f"stepscope/{name}" for name in CURVES} <= ours[0].keys()
    assert [row["stepscope/step"] for row in ours] == sorted(row["stepscope/step"] for row in ours)
    assert logged["summary"]["stepscope/run/steps"] == 60
    assert logged["summary"]["stepscope/verdict"]
    ((name, files),) = logged["artifacts"].items()
    assert name.startswith("stepscope-")
    assert files["report.html"] > 100_000
    assert list(folder.glob("files/media/html/stepscope/findings*.html"))


def test_what_goes_wrong_is_a_note_and_the_script_ends_as_ever(
    programs: Path, tmp_path: Path
) -> None:
    assert "folder" in recorded(programs, "wandb_run.py", "no-python", cwd=tmp_path)
    assert "Not added to the run in W&B" in notes_in(tmp_path / "a")


# --- MLflow ---------------------------------------------------------------------------------------


@pytest.fixture
def server(programs: Path, tmp_path: Path) -> Iterator[str]:
    """A real server with a store in local files."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = tmp_path / "store"
    store.mkdir()
    command = [str(programs / "mlflow"), "server", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{store}/runs.db"]
    command += ["--artifacts-destination", str(store / "artifacts")]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    with (
        (tmp_path / "server.log").open("wb") as log,
        subprocess.Popen(
            command, cwd=store, stdout=log, stderr=log, env=environment, start_new_session=True
        ) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            until(lambda: answers(f"{address}/health"))
            yield address
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # its helpers too


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def test_mlflow_gets_it_from_a_process_of_its_own(
    programs: Path, server: str, tmp_path: Path
) -> None:
    printed = recorded(programs, "mlflow_run.py", cwd=tmp_path, MLFLOW_TRACKING_URI=server)
    run_id = printed.split()[-1]

    def read() -> Any:
        return kept(programs, "mlflow", server, run_id, cwd=tmp_path)

    until(lambda: len(read()["files"]) == 2)
    logged = read()
    assert {f"stepscope/{name}" for name in CURVES} <= logged["history"].keys()
    assert 10 <= len(logged["history"]["stepscope/step_ms"]) <= 50
    assert logged["files"]["stepscope/report.html"] > 100_000
    assert logged["tags"]["stepscope.verdict"]
    summary = summary_of(programs, tmp_path)
    assert logged["metrics"]["stepscope/run/step_ms"] == pytest.approx(summary["step_ms"]["mean"])
    assert logged["metrics"]["stepscope/run/own_cost"] == pytest.approx(
        summary["overhead"]["share"]
    )


# --- TensorBoard ----------------------------------------------------------------------------------


def test_tensorboard_reads_it_as_part_of_the_scripts_run(programs: Path, tmp_path: Path) -> None:
    recorded(programs, "tensorboard_run.py", "logs", cwd=tmp_path)
    report = tmp_path / "logs/stepscope-report.html"
    until(report.is_file)
    logged = kept(programs, "tensorboard", tmp_path / "logs", cwd=tmp_path)
    assert len(logged["scalars"]["loss"]) == 60
    assert {f"stepscope/{name}" for name in CURVES} <= logged["scalars"].keys()
    assert logged["plugins"] == {"stepscope/findings": "text", "stepscope/verdict": "text"}
    summary = summary_of(programs, tmp_path)
    ((_, mean_ms),) = logged["scalars"]["stepscope/run/step_ms"]
    assert mean_ms == pytest.approx(summary["step_ms"]["mean"], rel=1e-5)
    curve = logged["scalars"]["stepscope/step_ms"]
    assert curve[-1][0] <= 60


# --- callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["keras", "lightning", "trainer"])
def test_callbacks_add_to_the_run_that_is_open(programs: Path, tmp_path: Path, of: str) -> None:
    variables = {"KERAS_BACKEND": "torch", "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    done(programs / "python", PROGRAMS / f"{of}_callback.py", cwd=tmp_path, **variables)
    (folder,) = tmp_path.glob("wandb/offline-run-*")
    logged = kept(programs, "wandb", folder, cwd=tmp_path)
    assert logged["summary"]["stepscope/run/steps"] >= 10
    assert [row for row in logged["history"] if "stepscope/step_ms" in row]
    until((tmp_path / "logs/stepscope-report.html").is_file)
    scalars = kept(programs, "tensorboard", tmp_path / "logs", cwd=tmp_path)["scalars"]
    assert "stepscope/step_ms" in scalars
