"""A device's time counted by hand, and that of real traces against a plain count of all events."""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import needs
from stepscope.analyze.operators.device import device
from stepscope.analyze.traces.foreign import is_trace, run_of_trace
from stepscope.model.ops import DeviceRow
from xplane_writer import PlaneWriter, write

US = 1000


def kernel(
    name: str, start_us: float, lasted_us: float, correlation: int, **fields: Any
) -> dict[str, Any]:
    args = {"correlation": correlation, "device": 0, "stream": fields.pop("stream", 7)}
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "args": args}
    return event | {"ts": start_us, "dur": lasted_us} | fields


def launch(start_us: float, correlation: int) -> dict[str, Any]:
    return {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
            "ts": start_us, "dur": 1, "args": {"correlation": correlation}}  # fmt: skip


def asked(path: Path, events: list[dict[str, Any]], **head: Any) -> list[DeviceRow]:
    path.write_text(json.dumps(head | {"traceEvents": events}))
    return device(run_of_trace(path)).ranks


def test_busy_idle_and_why(tmp_path: Path) -> None:
    rows = asked(
        tmp_path / "t.json",
        [
            launch(0, 1), kernel("gemm", 10, 20, 1),
            launch(40, 2), kernel("gemm", 50, 10, 2),  # launched 10 µs after the one before ended
            launch(41, 3), kernel("relu", 60.02, 10, 3),  # 20 ns: one after the other
            launch(42, 4), kernel("relu", 100.01, 10, 4),  # launched in time, 29.99 µs late
            launch(43, 5), kernel("relu", 140.01, 10, 5),  # 30 µs: there is another reason
        ],
        distributedInfo={"rank": 3},
    )  # fmt: skip
    assert len(rows) == 1
    row = rows[0]
    assert (row.rank, row.device, row.steps) == (3, 0, None)
    assert (row.wall_ns, row.busy_ns, row.idle_ns) == (140010, 60000, 80010)
    split = row.idle
    assert (split.host_wait_ns, split.kernel_wait_ns, split.other_ns) == (20000, 30010, 30000)
    assert [(each.name, each.calls, each.total_ns) for each in row.kernels] == [
        ("gemm", 2, 30000), ("relu", 3, 30000),
    ]  # fmt: skip
    assert [(each.stream, each.calls, each.idle) for each in row.streams] == [(7, 5, split)]


def test_streams_and_steps_have_their_own_figures(tmp_path: Path) -> None:
    """Of the second step, the device works on what the first one launched until 130."""
    steps = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1,
         "ts": 100 * (number - 4), "dur": 90} for number in (4, 5)
    ]  # fmt: skip
    rows = asked(
        tmp_path / "t.json",
        [
            *steps,
            launch(10, 1), kernel("gemm", 20, 110, 1),
            launch(20, 2), kernel("ncclDevKernel_AllReduce", 110, 20, 2, stream=20),
            launch(110, 3), kernel("gemm", 150, 30, 3),
            launch(120, 4), kernel("Memset", 200, 10, 4, cat="gpu_memset", stream=20),
        ],
    )  # fmt: skip
    row = rows[0]
    assert row.memset_ns == 10 * US
    first, second = row.streams
    assert (first.stream, first.busy_ns, first.idle_ns) == (7, 140 * US, 20 * US)
    assert (second.stream, second.communication_ns, second.memset_ns) == (20, 20 * US, 10 * US)
    assert second.idle.other_ns == second.idle_ns == 70 * US
    by_step = [
        (step.number, step.start_ns, step.duration_ns, step.busy_ns, step.communication_ns,
         step.exposed_communication_ns, step.memset_ns, step.idle_ns) for step in row.each_step
    ]  # fmt: skip
    assert by_step == [
        (4, -20 * US, 130 * US, 110 * US, 20 * US, 0, 0, 20 * US),
        (5, 110 * US, 80 * US, 40 * US, 0, 0, 10 * US, 40 * US),
    ]


def test_communication_is_exposed_where_nothing_computes(tmp_path: Path) -> None:
    rows = asked(
        tmp_path / "t.json",
        [
            kernel("gemm", 0, 50, 1),
            kernel("ncclDevKernel_AllReduce", 30, 60, 2, stream=20),
            kernel("gemm", 70, 10, 3),
            kernel("Memcpy HtoD", 100, 5, 4, cat="gpu_memcpy"),
            kernel("Memset", 105, 5, 5, cat="gpu_memset"),
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1,
             "ts": 0, "dur": 110},
        ],
    )  # fmt: skip
    row = rows[0]
    assert (row.compute_ns, row.communication_ns) == (60 * US, 60 * US)
    assert row.exposed_communication_ns == 30 * US
    assert row.memcpy_ns == 10 * US
    assert (row.busy_ns, row.idle_ns, row.steps) == (100 * US, 10 * US, 1)


def test_each_gpu_of_an_xplane_has_its_row(tmp_path: Path) -> None:
    planes = []
    for number in (0, 1):
        plane = PlaneWriter(f"/device:GPU:{number}")
        stream = plane.line(1, "Stream #1(Compute)")
        stream.event("gemm", 0, 10 + number, correlation_id=number)
        stream.event("ncclKernel", 20, 10, correlation_id=9)
        planes.append(plane)
    rows = device(run_of_trace(write(tmp_path / "t.xplane.pb", *planes))).ranks
    assert [(row.device, row.wall_ns, row.compute_ns) for row in rows] == [
        (0, 30 * US, 10 * US), (1, 30 * US, 11 * US),
    ]  # fmt: skip


def test_a_folder_of_traces_has_a_row_a_rank(tmp_path: Path) -> None:
    for rank in (1, 0):
        text = {"distributedInfo": {"rank": rank}, "traceEvents": [kernel("gemm", 0, 5 + rank, 1)]}
        (tmp_path / f"worker{9 - rank}.json").write_text(json.dumps(text))
    assert is_trace(tmp_path)
    rows = device(run_of_trace(tmp_path)).ranks
    assert [(row.rank, row.busy_ns) for row in rows] == [(0, 5 * US), (1, 6 * US)]


def test_a_trace_without_a_device_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"traceEvents": [launch(0, 1)]}))
    answer = device(run_of_trace(path))
    assert answer.ranks == []
    assert answer.notes == ["Nothing ran on a device in what was recorded."]


# --- real traces ----------------------------------------------------------------------------------

KINETO = (
    "torch_v100_resnet50_workers0.pt.trace.json.gz",
    "torch_a100_ddp2_nccl_rank0.json.gz",
    "torch_mi300x_resnet_ddp8_rank0_stacks.json.gz",
    "ddp128_sampled/rank-0.json.gz",
)
DEVICE_WORDS = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}


def counted(path: Path) -> dict[str, float]:
    """Straight from the JSON, by sweeping over the begins and ends in order; microseconds."""
    with gzip.open(path) as file:
        whole = json.load(file)
    events = whole["traceEvents"] if isinstance(whole, dict) else whole
    work = [e for e in events if e.get("ph") == "X" and str(e.get("cat")).lower() in DEVICE_WORDS]
    edges = []
    for event in work:
        name, category = event["name"], event["cat"].lower()
        kind = "copy" if category != "kernel" else "talk" if "nccl" in name.lower() else "compute"
        edges += [(float(event["ts"]), 1, kind)]
        edges += [(float(event["ts"]) + float(event["dur"]), -1, kind)]
    edges.sort(key=lambda edge: edge[0])
    running = {"copy": 0, "talk": 0, "compute": 0}
    total = {"busy": 0.0, "copy": 0.0, "talk": 0.0, "compute": 0.0, "exposed": 0.0}
    for (at, change, kind), (following, _, _) in itertools.pairwise(edges):
        running[kind] += change
        lasted = following - at
        for each, count in running.items():
            total[each] += lasted * (count > 0)
        total["busy"] += lasted * any(running.values())
        total["exposed"] += lasted * (running["talk"] > 0 and running["compute"] == 0)
    return total | {"wall": edges[-1][0] - edges[0][0], "kernels": len(work)}


@pytest.mark.parametrize("name", KINETO)
def test_real_traces_are_counted_as_a_plain_sweep_counts_them(name: str) -> None:
    path = needs.trace(name)
    found, expected = device(run_of_trace(path)).ranks, counted(path)
    assert len(found) == 1
    row = found[0]
    ours = {
        "wall": row.wall_ns, "busy": row.busy_ns, "compute": row.compute_ns,
        "talk": row.communication_ns, "copy": row.memcpy_ns,
        "exposed": row.exposed_communication_ns,
    }  # fmt: skip
    for key, ns in ours.items():
        assert ns == pytest.approx(1000 * expected[key], rel=1e-4, abs=5000), key
    assert sum(kernel.calls for kernel in row.kernels) == expected["kernels"]
    split = row.idle
    assert split.host_wait_ns + split.kernel_wait_ns + split.other_ns == row.idle_ns
    assert row.wall_ns == row.busy_ns + row.idle_ns


def test_of_a_real_trace_with_eight_gpus_those_that_worked_are_reported() -> None:
    path = needs.trace("tf_v100x8_multiworker.xplane.pb")
    rows = device(run_of_trace(path)).ranks
    assert [row.device for row in rows] == [1, 4, 6]
    for row in rows:
        assert row.busy_ns + row.idle_ns == row.wall_ns
        assert 0 <= row.exposed_communication_ns <= row.communication_ns <= row.busy_ns
    assert np.argmax([row.compute_ns for row in rows]) > 0
