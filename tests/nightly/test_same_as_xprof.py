"""Steps, kernels, instructions and input pipelines against XProf's own converter, on real files.

docs/device.md explains where the two differ. What a script records here is compared in
tests/frameworks/test_xplane_windows.py.
"""

import collections
import functools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import needs
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.analyze.traces.marks import interval
from stepscope.analyze.traces.windows import read_causes, read_trace
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.errors import InputError
from stepscope.importers.trace import ON_DEVICE, Trace
from stepscope.store.reader import Run

PROGRAM = Path(__file__).parents[1] / "programs" / "xplane" / "xprof_says.py"
V100, TPU = "tf_v100x8_multiworker.xplane.pb", "jax_tpu_v6e_inference.xplane.pb"
pytestmark = pytest.mark.nightly
ROUNDED_US = 0.001  # of each event: ours are whole nanoseconds

Row = dict[str, Any]


@functools.cache
def xprof_says(tool: str, name: str) -> Any:
    """In a folder of its own: XProf puts files beside what it reads."""
    needs.require("xprof")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(needs.trace(name), folder)
        command = [sys.executable, str(PROGRAM), tool, str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


def rows_of(table: Any) -> list[Row]:
    names = [column["id"] for column in table["cols"]]
    return [
        dict(zip(names, (cell.get("v") for cell in row["c"]), strict=False))
        for row in table["rows"]
    ]


def run(name: str) -> Run:
    return run_of_trace(needs.trace(name))


def trace(name: str) -> Trace:
    found = read_trace(needs.trace(name))
    assert isinstance(found, Trace)
    return found


def ours(name: str) -> dict[str, tuple[int, int]]:
    """Calls and time of each kernel, on all devices together."""
    found: dict[str, tuple[int, int]] = {}
    for row in kernels(run(name)).kernels:
        calls, ns = found.get(row.name, (0, 0))
        found[row.name] = calls + row.calls, ns + row.total_ns
    return found


def test_every_kernel_of_a_gpu_runs_as_often_and_as_long() -> None:
    theirs: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0.0])
    for row in rows_of(xprof_says("kernel_stats", V100)):
        theirs[row["kernel_name"]][0] += row["occurrences"]
        theirs[row["kernel_name"]][1] += row["total_duration_us"]
    found = ours(V100)
    assert len(theirs) == 11
    for name, (calls, us) in theirs.items():
        assert found[name][0] == calls
        assert found[name][1] / 1e3 == pytest.approx(us, abs=calls * ROUNDED_US)
    assert set(found) - set(theirs) == {"MemcpyH2D", "MemcpyD2H"}  # XProf lists kernels only


def test_the_step_of_a_gpu_is_as_long_and_its_device_as_busy() -> None:
    """XProf takes the copies of this file for computations."""
    (theirs,) = rows_of(xprof_says("input_pipeline_analyzer", V100)[1])
    each = steps(run(V100), each=True, scheme="xprof").each
    assert isinstance(each, list)
    (mine,) = each
    assert mine.duration_ns / 1e6 == pytest.approx(theirs["stepTimeMs"], abs=1e-6)
    causes = read_causes(needs.trace(V100))
    assert causes is not None
    step = xprof_steps(causes)
    of_step = causes.device.group == 0
    busy = union(causes.device.start_ns[of_step], causes.device.end_ns[of_step])
    assert int(overlap_ns(step.start_ns, step.end_ns, busy)[0]) / 1e6 == pytest.approx(
        theirs["deviceComputeTimeMs"], abs=1e-4
    )
    assert sum(mine.phases.values()) == mine.duration_ns


def test_the_stages_of_a_pipeline_are_called_as_often_and_take_as_long() -> None:
    theirs = rows_of(xprof_says("input_pipeline_analyzer", V100)[2])
    found = trace(V100)
    assert {row["opName"] for row in theirs} == {
        "Iterator::Prefetch", "Iterator::Prefetch::Generator",
    }  # fmt: skip
    for row in theirs:
        name = "Iterator::" + row["opName"].rpartition("::")[2]
        events = found.events[found.events["name"] == found.names.index(name)]
        assert len(events) == row["count"]
        assert int(events["duration_ns"].sum()) / 1e6 == pytest.approx(row["timeInMs"], abs=1e-5)


def test_every_instruction_of_a_tpu_is_there() -> None:
    """XProf's durations of single instructions are the device's own, ours the file's."""
    theirs: collections.Counter[str] = collections.Counter()
    for row in rows_of(xprof_says("framework_op_stats", TPU)[0]):
        if row["host_or_device"] == "Device" and row["type"] != "IDLE":
            theirs[str(row["operation"]).partition(".")[0]] += int(row["occurrences"])
    found = ours(TPU)
    assert found["copy-start"][0] == theirs["copy-start"]
    assert found["copy-done"][0] == theirs["copy-done"]
    assert found["broadcast_add_fusion"][0] == 3 * theirs["jit(f)/jit(main)/add"]
    assert found["all-reduce"][0] == theirs["jit(_psum)/jit(main)/reduce_sum"]


def test_neither_finds_steps_where_none_are_marked() -> None:
    assert rows_of(xprof_says("input_pipeline_analyzer", TPU)[1]) == []
    with pytest.raises(InputError, match="No steps found"):
        steps(run(TPU), scheme="xprof")


def test_the_device_is_busy_for_as_long_as_its_streams_say() -> None:
    found = trace(TPU)
    device = found.of(*ON_DEVICE)
    starts, ends = union(*interval(device[device["device"] == 1]))
    assert int((ends - starts).sum()) == 78_789_509_333
