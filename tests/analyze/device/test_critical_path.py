"""The critical path of steps made by hand: what lies on it, and what its parts would give."""

from pathlib import Path

import pytest

import needs
from device_traces import Event, call, copy, kernel, launch, named_range, operator, work
from stepscope.analyze.device.critical_path import critical_path
from stepscope.analyze.traces.devices import works_of
from stepscope.analyze.traces.windows import read_trace
from stepscope.importers.trace import Trace
from stepscope.model.device import CriticalPath

US = 1000


def path_of(tmp_path: Path, *events: Event) -> CriticalPath:
    found = critical_path(work(tmp_path, *events))
    assert found is not None
    return found


def kinds(path: CriticalPath) -> dict[str, int]:
    return {kind.kind: kind.path_ns // US for kind in path.kinds}


def gains(path: CriticalPath) -> dict[str, int]:
    return {row.name: row.gain_ns // US for row in path.rows}


def test_a_step_that_waits_for_its_host_has_the_host_on_the_path(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::a", 0, 40), launch(30, 5, 1), kernel("k1", 40, 10, 1),
        operator("aten::b", 60, 40), launch(90, 5, 2), kernel("k2", 100, 10, 2),
    )  # fmt: skip
    assert path.step is None
    assert path.step_ns == 110 * US
    # k2 is held up by its launch, which comes after all that the host did before it.
    assert kinds(path) == {
        "operator": 65, "outside operators": 20, "launch": 10, "kernel": 10, "call": 5,
    }  # fmt: skip
    assert gains(path)["k2"] == 10
    assert "k1" not in gains(path)


def test_a_step_that_waits_for_its_device_has_the_kernels_on_the_path(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::a", 0, 30), launch(1, 2, 1), launch(5, 2, 2), launch(9, 2, 3),
        kernel("k1", 5, 100, 1), kernel("k2", 106, 100, 2), kernel("k3", 207, 50, 3),
    )  # fmt: skip
    assert path.step_ns == 257 * US
    assert kinds(path) == {"kernel": 250, "launch": 4, "gap": 2, "operator": 1}
    assert gains(path)["k2"] == 100
    assert sum(kind.path_ns for kind in path.kinds) == path.step_ns


def test_what_runs_beside_the_path_limits_the_gain(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::a", 0, 10), launch(0, 1, 1), launch(2, 1, 2),
        kernel("long", 4, 100, 1), kernel("other", 4, 80, 2, stream=8),
    )  # fmt: skip
    assert kinds(path)["kernel"] == 100
    assert gains(path)["long"] == 20  # then the other stream is the longest


def test_a_synchronisation_leads_from_the_device_to_the_host(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::a", 0, 10), launch(2, 1, 1), kernel("k1", 5, 100, 1),
        operator("aten::item", 20, 90), call("cudaStreamSynchronize", 22, 85),
        operator("aten::b", 110, 50), launch(150, 1, 2), kernel("k2", 155, 15, 2),
    )  # fmt: skip
    assert kinds(path)["kernel"] == 115
    assert kinds(path)["synchronisation"] == 2
    assert gains(path)["k1"] >= 80  # up to where the host itself comes to the end of the call


def test_a_copy_that_blocks_the_host_is_one_too(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::a", 0, 10), launch(2, 1, 1), kernel("k1", 5, 100, 1),
        operator("aten::copy_", 20, 100), call("cudaMemcpyAsync", 22, 90, 2),
        copy("Memcpy DtoH (Device -> Pageable)", 106, 4, 2),
    )  # fmt: skip
    assert kinds(path)["kernel"] == 100
    assert kinds(path)["copy"] == 4


def test_a_stream_that_was_told_to_wait_depends_on_the_other(tmp_path: Path) -> None:
    together = [
        operator("aten::a", 0, 20), launch(1, 1, 1), kernel("k1", 5, 100, 1),
        kernel("k2", 106, 10, 2, stream=8), launch(9, 1, 2),
    ]  # fmt: skip
    alone = path_of(tmp_path, *together)
    assert "k1" not in gains(alone)
    path = path_of(tmp_path, *together, call("cudaStreamWaitEvent", 6, 1))
    assert kinds(path)["stream wait"] == 1
    assert gains(path)["k1"] > 90


def test_the_path_goes_to_the_thread_that_worked_last(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, operator("aten::forward", 0, 30), operator("backward", 35, 60, thread=2),
        operator("aten::step", 100, 20), launch(110, 1, 1), kernel("k", 115, 10, 1),
    )  # fmt: skip
    assert {"aten::forward", "backward", "aten::step"} <= gains(path).keys()
    assert kinds(path)["outside operators"] == 10


def test_work_from_before_the_step_is_told_apart(tmp_path: Path) -> None:
    marks = [named_range(f"ProfilerStep#{n}", 100 * n, 100) for n in range(3)]
    path = path_of(
        tmp_path, *marks,
        operator("aten::a", 50, 5), launch(51, 1, 1), kernel("before", 60, 120, 1),
        operator("aten::b", 110, 5), launch(111, 1, 2), kernel("k", 181, 10, 2),
    )  # fmt: skip
    assert path.step == "ProfilerStep#1"
    assert path.step_ns == 91 * US
    assert kinds(path) == {"earlier work": 80, "kernel": 10, "gap": 1}


@pytest.mark.parametrize(
    "name", ["torch_a100_ddp2_nccl_rank0.json.gz", "torch_h100_timesformer_stacks_mem.json.gz"]
)
def test_the_path_of_a_real_step_covers_all_of_it_and_no_time_twice(name: str) -> None:
    trace = read_trace(needs.trace(name))
    assert isinstance(trace, Trace)
    path = critical_path(works_of(trace))
    assert path is not None
    assert sum(kind.path_ns for kind in path.kinds) == path.step_ns
    assert all(0 <= kind.gain_ns <= path.step_ns for kind in path.kinds)
    assert all(0 <= row.gain_ns <= path.step_ns for row in path.rows)
