"""Kernels belong to the innermost operator around their launch, in traces of any age."""

import bisect
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import needs
from nights import nightly_but
from stepscope.analyze.operators.device import device
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.traces.devices import works_of
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.analyze.traces.launches import calls_of
from stepscope.analyze.traces.operator_tree import OpTree, op_tree
from stepscope.analyze.traces.windows import read_trace
from stepscope.importers.trace import Trace

Event = dict[str, Any]


def event(category: str, name: str, at: float, lasts: float, tid: int = 1, **args: Any) -> Event:
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": at, "dur": lasts,
            "args": args}  # fmt: skip


def kernel(at: float, correlation: int, external: int, name: str = "gemm") -> Event:
    ids = {"correlation": correlation, "External id": external}
    return event("kernel", name, at, 10, tid=7, device=0, stream=7, **ids)


def operators(path: Path, *events: Event) -> list[str | None]:
    """The operator of each kernel, in order."""
    path.write_text(json.dumps({"traceEvents": events}))
    tree = tree_of(path)
    return [
        tree.trace.names[tree.events["name"][index]] if index >= 0 else None
        for index in tree.launcher.tolist()
    ]


def tree_of(path: Path) -> OpTree:
    trace = read_trace(path)
    assert not isinstance(trace, str)
    return op_tree(trace)


def test_the_operator_is_around_the_launch_whatever_the_external_id_says(tmp_path: Path) -> None:
    """Older files have the correlation id there, which is the number of another operator."""
    found = operators(
        tmp_path / "t.json",
        event("cpu_op", "aten::linear", 0, 100, **{"External id": 31}),
        event("cpu_op", "aten::addmm", 10, 50, **{"External id": 32}),
        event("cuda_runtime", "cudaLaunchKernel", 20, 5, correlation=31, **{"External id": 31}),
        event("cpu_op", "aten::relu", 200, 10, **{"External id": 33}),
        event("cuda_runtime", "cudaLaunchKernel", 80, 5, correlation=33, **{"External id": 33}),
        kernel(300, 31, 31),
        kernel(310, 33, 33),
    )
    assert found == ["aten::addmm", "aten::linear"]


def test_an_operator_merged_with_its_only_child_keeps_the_kernels_of_both(tmp_path: Path) -> None:
    found = operators(
        tmp_path / "t.json",
        event("cpu_op", "aten::copy_", 0, 100, **{"External id": 1}),
        event("cpu_op", "aten::copy_", 10, 50, **{"External id": 2}),
        kernel(300, 8, 2),
    )
    assert found == ["aten::copy_"]


def test_of_calls_with_one_id_the_last_before_the_kernel_counts(tmp_path: Path) -> None:
    found = operators(
        tmp_path / "t.json",
        event("cpu_op", "aten::one", 0, 10),
        event("cuda_runtime", "cudaLaunchKernel", 1, 5, correlation=4),
        event("cpu_op", "aten::other", 0, 10, tid=2),
        event("cuda_runtime", "cudaLaunchKernel", 2, 5, tid=2, correlation=4),
        event("cpu_op", "aten::later", 50, 10),
        event("cuda_runtime", "cudaLaunchKernel", 52, 5, correlation=4),
        kernel(1.5, 4, -1),
        kernel(20, 4, -1),
        kernel(60, 4, -1),
    )
    assert found == ["aten::one", "aten::other", "aten::later"]


def test_marks_of_steps_and_loaders_are_no_operators_in_old_files(tmp_path: Path) -> None:
    found = operators(
        tmp_path / "t.json",
        event("Operator", "ProfilerStep#3", 0, 100),
        event("Operator", "Optimizer.step#SGD.step", 10, 50),
        event("Runtime", "cudaLaunchKernel", 20, 5, correlation=9),
        kernel(300, 9, -1),
    )
    assert found == [None]


def test_kernels_whose_launch_is_missing_are_counted_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    operators(
        path,
        event("cpu_op", "aten::relu", 0, 10),
        event("cuda_runtime", "cudaLaunchKernel", 1, 5, correlation=4),
        kernel(20, 4, 4, name="relu"),
        kernel(40, 5, 5, name="lost"),
    )
    run = run_of_trace(path)
    words = "1 of 2 kernels and copies (0.0 ms) were launched by calls that are not in the trace"
    for answer in (kernels(run), ops(run), device(run)):
        assert [words in note for note in answer.notes] == [True]
    assert {row.name: row.operator for row in kernels(run).kernels} == {
        "relu": "aten::relu", "lost": None,
    }  # fmt: skip
    assert {row.name: row.self_device_ns for row in ops(run).ops}["aten::relu"] == 10_000


# --- real traces ----------------------------------------------------------------------------------

TRACES = (
    "aux/torch_h100_bert_small.json.gz",
    "aux/torch_mi250_minitoy.json.gz",
    "aux/torch_mi300x_bert_small.json.gz",
    "ddp128_sampled/rank-0.json.gz",
    "ddp128_sampled/rank-1.json.gz",
    "torch_a100_ddp2_nccl_rank0.json.gz",
    "torch_h100_timesformer_stacks_mem.json.gz",
    "torch_mi300x_resnet_ddp8_rank0_stacks.json.gz",
    "torch_mi300x_sglang_inference.json.gz",
    "torch_v100_resnet50_workers0.pt.trace.json.gz",
    "torch_v100_resnet50_workers4.pt.trace.json.gz",
)
OPERATORS = ("cpu_op", "Operator")
CALLS = ("cuda_runtime", "cuda_driver", "Runtime")
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")
MARKS = ("ProfilerStep#", "enumerate(DataLoader)", "Optimizer.")


class Plain:
    """The innermost operator at a moment, by looking at all that began before it."""

    def __init__(self, events: list[Event]) -> None:
        self._by_thread: dict[Any, list[tuple[float, float, str]]] = {}
        for each in events:
            if each["cat"] in OPERATORS and not each["name"].startswith(MARKS):
                begins, thread = float(each["ts"]), (each["pid"], each["tid"])
                row = (begins, -(begins + float(each["dur"])), each["name"])
                self._by_thread.setdefault(thread, []).append(row)
        for rows in self._by_thread.values():
            rows.sort()

    def innermost(self, call: Event) -> str | None:
        rows, at = self._by_thread.get((call["pid"], call["tid"]), []), float(call["ts"])
        upto = bisect.bisect_right(rows, (at, 0.0, ""))
        return next((name for _, end, name in reversed(rows[:upto]) if -end > at), None)


@pytest.mark.parametrize("name", nightly_but(TRACES[:6], TRACES))
def test_in_real_traces_kernels_have_the_innermost_operator_around_their_launch(name: str) -> None:
    path = needs.trace(name)
    with gzip.open(path) as file:
        whole = json.load(file)["traceEvents"]
    events = [each for each in whole if each.get("ph") == "X" and each.get("cat")]
    calls = {e["args"].get("correlation"): e for e in events if e["cat"] in CALLS}
    plain, tree = Plain(events), tree_of(path)
    on_device = [each for each in events if each["cat"] in ON_DEVICE]
    launched = same = 0.0
    for each, index in zip(on_device, tree.launcher.tolist(), strict=True):
        call = calls.get(each["args"].get("correlation"))
        expected = plain.innermost(call) if call else None
        if expected is not None:
            launched += float(each["dur"])
            is_same = index >= 0 and tree.trace.names[tree.events["name"][index]] == expected
            same += float(each["dur"]) * is_same
    assert launched > 0
    assert same >= 0.99 * launched


def test_queues_and_operators_know_the_same_launch(tmp_path: Path) -> None:
    """Two processes in a file number their calls alike: the last one before the kernel counts."""
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": [
        event("cuda_runtime", "cudaLaunchKernel", 1, 5, correlation=4),
        event("cuda_runtime", "cudaLaunchKernel", 50, 5, tid=2, correlation=4),
        kernel(60, 4, 0),
    ]}))  # fmt: skip
    trace = read_trace(tmp_path / "t.json")
    assert isinstance(trace, Trace)
    (work,) = works_of(trace)
    assert (
        work.calls["start_ns"][work.call].tolist() == calls_of(trace, work.events).start_ns.tolist()
    )
    assert work.calls["start_ns"][work.call[0]] == work.calls["start_ns"].max()
