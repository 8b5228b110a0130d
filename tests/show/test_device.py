"""Traces of other tools, asked on the command line: device, steps and input."""

import json
from pathlib import Path

import pytest

from stepscope.cli.main import main
from xplane_writer import PlaneWriter, write


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two steps of 100 µs, with half of each on the device, and 20 µs for the batch before."""
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    python = host.line(1, "python")
    data = host.line(2, "tf_data_iterator_get_next/2")
    stream = device.line(7, "Stream #7(Compute)")
    for step in range(2):
        at = 200 * step
        python.event("train", at, 100, step_num=step, _r=1)
        python.event("f:ReadVariableOp", at + 1, 5)
        python.event("cuLaunchKernel", at + 22, 3, correlation_id=step)
        python.event("RunGraph", at + 28, 1, _pt=1, _p=step + 1)
        data.event("IteratorGetNextOp::DoCompute", at + 2, 20, _ct=1, _c=step + 1)
        data.event("Iterator::Root::Map", at + 3, 19)
        stream.event("gemm", at + 30, 50, correlation_id=step)
    return write(tmp_path / "t.xplane.pb", host, device, start_ns=1_700_000_000_000_000_000)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["show", *words]) == 0
    return capsys.readouterr().out


def test_device_as_json_has_the_promised_fields(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = json.loads(told(capsys, str(trace), "device", "--json"))["ranks"]
    expected = {
        "rank": None, "steps": 2, "wall_ns": 250_000, "busy_ns": 100_000, "compute_ns": 100_000,
        "communication_ns": 0, "exposed_communication_ns": 0, "memcpy_ns": 0, "idle_ns": 150_000,
        "idle": {"host_wait_ns": 150_000, "kernel_wait_ns": 0, "other_ns": 0},
        "kernels": [{"name": "gemm", "calls": 2, "total_ns": 100_000}],
    }  # fmt: skip
    assert {key: row[key] for key in expected} == expected


def test_device_as_a_page(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, str(trace), "device")
    assert "Device 0" in page
    assert "2 steps" in page
    assert "host too late" in page
    assert "gemm" in page


def test_steps_of_a_trace_are_shown_in_xprofs_words(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = json.loads(told(capsys, str(trace), "steps", "--scheme", "xprof", "--each", "--json"))
    assert answer["steps"] == len(answer["each"]) == 2
    assert answer["each"][0]["phases"]["Device Compute"] == 50_000
    assert answer["each"][0]["phases"]["Input"] == 20_000
    assert sum(answer["each"][0]["phases"].values()) == 200_000  # until the next one begins
    assert "each" not in json.loads(told(capsys, str(trace), "steps", "--json"))
    assert "Device Compute" in told(capsys, str(trace), "steps")


def test_input_of_a_trace_names_its_stages(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, str(trace), "input")
    assert "Map" in page
    assert "own time per batch" in page


def test_a_view_that_needs_a_recording_says_so(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(trace), "lines"]) != 0
    told = capsys.readouterr().err
    assert "has nothing for 'show lines'" in told
    assert "findings, steps, ops, kernels, device, input" in told
    assert main(["show", str(trace), "ops", "--scheme", "xprof"]) != 0
    assert "--scheme belongs to 'stepscope show steps'" in capsys.readouterr().err


def test_kernels_name_their_device_where_there_are_several(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "device  share" not in told(capsys, str(trace), "kernels")
    planes = [PlaneWriter(f"/device:GPU:{number}") for number in range(2)]
    for plane in planes:
        plane.line(7, "Stream #7(Compute)").event("gemm", 30, 50, correlation_id=1)
    both = write(tmp_path / "two.xplane.pb", *planes)
    lines = told(capsys, str(both), "kernels").splitlines()
    assert lines[1].split()[:3] == ["device", "share", "time"]
    assert [line.split()[0] for line in lines[2:4]] == ["0", "1"]
