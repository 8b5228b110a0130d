"""Several processes that train together with TensorFlow: ranks, broadcast, communication, rates."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

import needs
from frameworks.rank_runs import asked, processes, together
from frameworks.running import PROGRAMS
from frameworks.tf_runs import categories, span_names

needs.require("tensorflow")

TF = PROGRAMS / "tf"


def recording(out: Path, program: Path) -> tuple[object, ...]:
    return (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out, program)


def ranks_of(folder: Path) -> list[tuple[int, int]]:
    return [(row["rank"], row["steps"]) for row in asked(folder, "ranks")["ranks"]]


@pytest.mark.nightly
def test_horovods_ranks_and_what_they_wait_for(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, [str(TF / "horovod_stub"), os.environ.get("PYTHONPATH")]))
    environments = [
        {
            "HOROVOD_RANK": str(rank),
            "HOROVOD_SIZE": "2",
            "HOROVOD_MEETING": str(tmp_path / "meeting"),
            "PYTHONPATH": path,
        }
        for rank in range(2)
    ]
    folder = tmp_path / "run"
    ended = together(recording(folder, TF / "with_horovod.py"), tmp_path, environments)
    assert [status for status, _, _ in ended] == [0, 0], ended
    assert ended[0][1] == ended[1][1]  # the same mean loss on both
    assert processes(folder) == [("rank", 0), ("rank", 1)]
    assert ranks_of(folder) == [(0, 20), (1, 20)]
    assert {"communication", "forward", "backward", "optimizer"} <= categories(folder)
    assert {"broadcast_variables", "allreduce_grads", "allreduce"} <= span_names(folder)
    together_per_s = asked(folder, "ranks")["samples_per_s"]
    rows = asked(folder, "ranks")["ranks"]
    assert together_per_s == pytest.approx(sum(32_000 / row["step_ms"] for row in rows))


@pytest.mark.nightly
def test_workers_of_tf_config(tmp_path: Path) -> None:
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    environments = [
        {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})}
        for index in range(2)
    ]
    folder = tmp_path / "run"
    ended = together(recording(folder, TF / "multi_worker.py"), tmp_path, environments)
    assert [status for status, _, _ in ended] == [0, 0], ended
    assert processes(folder) == [("rank", 0), ("rank", 1)]
    assert ranks_of(folder) == [(0, 20), (1, 20)]
    assert {"input", "compute"} <= categories(folder)
    # TensorFlow's profiler would crash one process in ten.
    assert not list(folder.glob("**/ops-*"))
    assert any("crashes some processes" in note for note in asked(folder, "ops")["notes"])
