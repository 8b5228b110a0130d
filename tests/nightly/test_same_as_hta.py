"""Launches, queues and the critical path against HolisticTraceAnalysis, on traces of real devices.

HTA has its own dependencies, so it runs in an environment of its own, which is made here;
STEPSCOPE_HTA_PYTHON names the Python of one that is there already.
docs/device.md explains where the two differ.
"""

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import needs
from benchmarks.same_as_hta import python_of
from stepscope.analyze.device.critical_path import critical_path
from stepscope.analyze.device.host_moments import OUTSIDE, host_moments
from stepscope.analyze.device.launches import launch_times
from stepscope.analyze.device.path_steps import path_step
from stepscope.analyze.device.queues import queue_of
from stepscope.analyze.traces.devices import Work, works_of
from stepscope.analyze.traces.windows import read_trace
from stepscope.importers.trace import Trace

PROGRAM = Path(__file__).parents[1] / "programs" / "hta" / "figures.py"
A100, DDP128 = "torch_a100_ddp2_nccl_rank0.json.gz", "ddp128_sampled/rank-0.json.gz"
STEP = {A100: 1, DDP128: 0}  # the one of ours, among those that are marked
NEAR_NS = 500  # HTA adds floats that hold every quarter of a microsecond
# In its path, these take no time.
NO_TIME = ("cudaMemcpyAsync", "cudaEventSynchronize", "cudaEventQuery", "cudaStreamSynchronize")

pytestmark = pytest.mark.nightly


@functools.cache
def _python() -> str:
    given = os.environ.get("STEPSCOPE_HTA_PYTHON")
    try:
        return given or str(python_of(Path(tempfile.mkdtemp())))
    except subprocess.CalledProcessError:
        pytest.skip("HolisticTraceAnalysis cannot be installed here")


@functools.cache
def figures(name: str) -> dict[str, Any]:
    command = [_python(), str(PROGRAM), str(needs.trace(name)), str(STEP[name])]
    env = {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"}  # else it cuts to whole microseconds
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def work_of(name: str) -> Work:
    trace = read_trace(needs.trace(name))
    assert isinstance(trace, Trace)
    (work,) = works_of(trace)
    return work


@pytest.mark.parametrize("name", [A100, DDP128])
def test_every_launch_has_the_same_call_kernel_and_delay(name: str) -> None:
    theirs, work = figures(name)["launches"], work_of(name)
    ours = zip(*(each.tolist() for each in launch_times(work)), strict=True)
    correlation = work.events["correlation"][work.call >= 0].tolist()
    found = dict(zip(correlation, ours, strict=True))
    assert len(found) == len(theirs)
    for key, (call_us, kernel_us, delay_us) in theirs.items():
        call_ns, delay_ns, kernel_ns = found[int(key)]
        assert abs(call_ns - 1000 * call_us) <= NEAR_NS
        assert abs(kernel_ns - 1000 * kernel_us) <= NEAR_NS
        assert abs(delay_ns - 1000 * delay_us) <= 2 * NEAR_NS


@pytest.mark.parametrize("name", [A100, DDP128])
def test_every_queue_changes_as_often_and_is_as_long(name: str) -> None:
    theirs, work = figures(name)["queues"], work_of(name)
    streams = {str(each) for each in np.unique(work.events["stream"][work.call >= 0]).tolist()}
    assert streams == theirs.keys()
    for stream, about in theirs.items():
        queue = queue_of(work, int(stream))
        assert (len(queue.length), queue.length.max()) == (about["changes"], about["max"])
        assert queue.length.mean() == pytest.approx(about["mean"], abs=0.01)


def test_where_the_host_is_the_path_it_is_the_longest_thread_of_theirs() -> None:
    """HTA's path stays on one thread, and its time outside operators and in calls that may wait
    for the device is 0."""
    work = work_of(A100)
    moments = host_moments(work, path_step(work))
    inside: dict[int, int] = {}
    for place in range(1, len(moments.at_ns)):
        thread = moments.thread[place]
        kind, name = moments.label[place]
        if moments.thread[place - 1] == thread and kind != OUTSIDE and name not in NO_TIME:
            lasted = moments.at_ns[place] - moments.at_ns[place - 1]
            inside[thread] = inside.get(thread, 0) + lasted
    theirs = figures(A100)["critical_path"]
    assert theirs["cpu_bound"] == pytest.approx(max(inside.values()) / 1000, abs=0.5)


@pytest.mark.parametrize("name", [A100, DDP128])
def test_our_path_is_no_shorter_than_theirs(name: str) -> None:
    """It covers the whole step; theirs leaves out what it does not see, and waiting."""
    path = critical_path([work_of(name)])
    assert path is not None
    theirs = sum(figures(name)["critical_path"].values())
    assert theirs * 1000 <= path.step_ns + NEAR_NS
