"""Steps and categories of torch's TensorBoard plugin: by hand, and against its own figures."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import needs
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.intervals import by_order, intervals_of
from stepscope.analyze.operators.device import device
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.analyze.traces.xprof_steps import CATEGORIES, categories_of
from stepscope.errors import InputError
from stepscope.model import StepsAnswer
from xplane_writer import PlaneWriter, write

US = 1000
# Averages a step of torch_tb_profiler for its own two samples, in microseconds.
PLUGIN = {
    0: {"Kernel": 98589, "Memcpy": 1915, "Memset": 89, "Communication": 0, "Runtime": 2908,
        "DataLoader": 59262, "CPU Exec": 13674, "Other": 1156},
    4: {"Kernel": 99145, "Memcpy": 3160, "Memset": 98, "Communication": 0, "Runtime": 10564,
        "DataLoader": 1186, "CPU Exec": 22665, "Other": 4251},
}  # fmt: skip


def event(category: str, name: str, at: float, lasts: float, **args: Any) -> dict[str, Any]:
    where = {"pid": 0, "tid": 7} if "device" in args else {"pid": 1, "tid": 1}
    times = {"ts": at, "dur": lasts}
    return {"ph": "X", "cat": category, "name": name, **where, **times, "args": args}


def shares(answer: StepsAnswer) -> dict[str, float]:
    assert answer.breakdown is not None
    return {each.category: each.ms for each in answer.breakdown}


def by_step(answer: StepsAnswer) -> list[dict[str, int]]:
    assert isinstance(answer.each, list)
    return [{name: ns for name, ns in each.phases.items() if ns} for each in answer.each]


def test_a_step_lasts_until_what_it_launched_is_done(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    events = [
        event("user_annotation", "ProfilerStep#1", 0, 100),
        event("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 0, 20),
        event("cpu_op", "aten::mm", 30, 20),
        event("cuda_runtime", "cudaLaunchKernel", 35, 5, correlation=1),
        event("kernel", "gemm", 40, 80, device=0, correlation=1),
        event("user_annotation", "ProfilerStep#2", 100, 100),
        event("cuda_runtime", "cudaLaunchKernel", 110, 5, correlation=2),
        event("kernel", "ncclDevKernel_AllReduce", 130, 10, device=0, correlation=2),
        event("gpu_memset", "Memset", 145, 5, device=0, correlation=2),
    ]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    answer = steps(run_of_trace(path), each=True, scheme="tensorboard")
    assert by_step(answer) == [
        {"Kernel": 80 * US, "Runtime": 5 * US, "DataLoader": 20 * US, "CPU Exec": 5 * US,
         "Other": 10 * US},
        {"Communication": 10 * US, "Memset": 5 * US, "Other": 65 * US},
    ]  # fmt: skip
    assert isinstance(answer.each, list)
    assert [(each.number, each.duration_ns) for each in answer.each] == [
        (1, 120 * US), (2, 80 * US),
    ]  # fmt: skip


def test_a_last_step_that_the_recording_cut_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    events = []
    for step, kernels in enumerate((5, 5, 3)):
        events.append(event("user_annotation", f"ProfilerStep#{step}", 100 * step, 100))
        for index in range(kernels):
            at, number = 100 * step + 10 * index, 10 * step + index
            events.append(event("cuda_runtime", "cudaLaunchKernel", at, 2, correlation=number))
            events.append(event("kernel", "k", at + 4, 2, device=0, correlation=number))
    path.write_text(json.dumps({"traceEvents": events}))
    assert steps(run_of_trace(path), scheme="tensorboard").steps == 2


def test_a_trace_of_another_framework_names_the_scheme_that_fits(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(1, "main").event("PjitFunction(step)", 0, 10)
    path = write(tmp_path / "t.xplane.pb", host)
    with pytest.raises(InputError, match="--scheme xprof"):
        steps(run_of_trace(path), scheme="tensorboard")


@pytest.mark.parametrize("workers", PLUGIN)
def test_of_a_real_trace_the_averages_are_the_plugins_own(workers: int) -> None:
    path = needs.trace(f"torch_v100_resnet50_workers{workers}.pt.trace.json.gz")
    found = shares(steps(run_of_trace(path), scheme="tensorboard"))
    for category, us in PLUGIN[workers].items():
        assert found[category] == pytest.approx(us / 1e3, rel=0.005, abs=0.001), category
    rows = device(run_of_trace(path)).ranks[0].each_step
    assert len(rows) == 6
    assert float(np.mean([row.compute_ns for row in rows])) == pytest.approx(
        1e3 * PLUGIN[workers]["Kernel"], rel=0.005
    )


events = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60), st.integers(0, 25)), max_size=25)


def moment_by_moment(
    found: list[tuple[int, int, int]], begin: int, stop: int, kinds: int
) -> list[int]:
    """The first kind that runs at each moment."""
    total = [0] * kinds
    for moment in range(begin, stop):
        running = [kind for kind, start, lasts in found if start <= moment < start + lasts]
        if running:
            total[min(running)] += 1
    return total


@given(events, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=3))
def test_each_moment_belongs_to_the_first_kind_that_runs(
    found: list[tuple[int, int, int]], stretches: list[tuple[int, int]]
) -> None:
    table = np.array(found, np.int64).reshape(-1, 3)
    kind, intervals = table[:, 0], (table[:, 1], table[:, 1] + table[:, 2])
    begin, lasts = np.array(stretches, np.int64).reshape(-1, 2).T
    steps = begin, begin + lasts
    expected = [moment_by_moment(found, at, at + ns, 10) for at, ns in stretches]
    assert by_order(kind, intervals_of(*intervals), steps, 10).tolist() == expected
    xprof = categories_of(kind, intervals_of(*intervals), steps)
    assert xprof.min(initial=0) >= 0
    assert xprof.sum(axis=1).tolist() == lasts.tolist()
    left = [ns - sum(row) for (_, ns), row in zip(stretches, expected, strict=True)]
    assert xprof[:, CATEGORIES.index("All Others")].tolist() == left
