"""Findings in traces that other tools wrote: small ones made here, and real ones if available."""

import json
from pathlib import Path
from typing import Any

import pytest

import needs
from stepscope.advise.findings import findings
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.findings import FindingsAnswer

STEP_US = 10_000


class Made:
    """A trace of five steps, each with the same events, in µs from its start."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def add(self, name: str, category: str, start: float, lasts: float, **more: Any) -> "Made":
        """On the device if it is a kernel or a copy; `tid`: on another thread of the host."""
        is_device = category in ("kernel", "gpu_memcpy")
        where = {"pid": 0, "tid": 7} if is_device else {"pid": 100, "tid": more.pop("tid", 100)}
        for step in range(5):
            at = step * STEP_US + start
            event = {"ph": "X", "name": name, "cat": category, "ts": at, "dur": lasts}
            self.events.append({**event, **where, "args": more})
        return self

    def findings(self, folder: Path, marked: bool = True) -> FindingsAnswer:
        for step in range(6 if marked else 0):
            begins = {"ph": "X", "name": f"ProfilerStep#{step}", "cat": "user_annotation"}
            times = {"ts": step * STEP_US, "dur": STEP_US - 10, "pid": 100, "tid": 100}
            self.events.append({**begins, **times})
        path = folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": self.events}))
        return findings(run_of_trace(path), every=True)


def test_matrix_work_in_32_bits(tmp_path: Path) -> None:
    made = (
        Made().add("volta_sgemm_128x64_nn", "kernel", 0, 8_000).add("relu", "kernel", 8_000, 1_900)
    )
    found = {each.id: each for each in made.findings(tmp_path).findings}
    assert found["no-mixed-precision"].share == pytest.approx(0.8, abs=0.02)
    assert "device-idle" not in found


def test_matrix_work_in_16_bits_is_as_it_should_be(tmp_path: Path) -> None:
    answer = Made().add("volta_h884gemm_128x64", "kernel", 0, 9_900).findings(tmp_path)
    assert answer.findings == []
    assert "Nothing stands out" in answer.verdict


def test_copies_from_pageable_memory(tmp_path: Path) -> None:
    made = Made().add("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 0, 2_000, bytes=2**20)
    found = made.add("relu", "kernel", 2_000, 7_900).findings(tmp_path).findings
    assert [each.id for each in found] == ["pageable-copy"]
    assert found[0].share == pytest.approx(0.2, abs=0.01)


def test_waiting_for_the_batch_explains_the_idle_device(tmp_path: Path) -> None:
    made = Made().add("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                      "user_annotation", 0, 4_000)  # fmt: skip
    answer = made.add("relu", "kernel", 4_000, 5_900).findings(tmp_path)
    assert [each.id for each in answer.findings] == ["input-bound"]
    assert answer.findings[0].share == pytest.approx(0.4, abs=0.01)
    assert answer.findings[0].speedup.expected == pytest.approx(1 / 0.6, rel=0.05)


def test_a_wait_for_the_device_after_which_it_idles(tmp_path: Path) -> None:
    made = (
        Made()
        .add("relu", "kernel", 0, 5_000)
        .add("cudaStreamSynchronize", "cuda_runtime", 100, 4_950)
    )
    found = made.add("relu", "kernel", 8_050, 1_900).findings(tmp_path).findings
    assert [each.id for each in found] == ["sync-stall"]
    assert found[0].share == pytest.approx(0.3, abs=0.02)


def test_collectives_that_nothing_hides(tmp_path: Path) -> None:
    made = Made().add("relu", "kernel", 0, 7_000)
    made.add("ncclDevKernel_AllReduce_Sum_f32", "kernel", 5_000, 4_900)
    found = made.findings(tmp_path).findings
    assert [each.id for each in found] == ["exposed-communication"]
    assert found[0].share == pytest.approx(0.29, abs=0.01)


def test_many_short_kernels_ask_for_a_larger_batch(tmp_path: Path) -> None:
    made = Made()
    for index in range(100):
        made.add("relu", "kernel", 95 * index, 5)
    found = made.findings(tmp_path).findings
    assert [each.id for each in found] == ["small-batch"]


def test_an_idle_device_without_a_known_cause(tmp_path: Path) -> None:
    found = Made().add("relu", "kernel", 0, 5_000).findings(tmp_path).findings
    assert [each.id for each in found] == ["device-idle"]
    assert found[0].share == pytest.approx(0.5, abs=0.02)


def test_a_trace_without_a_device_says_so(tmp_path: Path) -> None:
    answer = Made().add("aten::mm", "cpu_op", 0, 5_000).findings(tmp_path)
    assert answer.findings == []
    assert "device" in answer.verdict


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("torch_v100_resnet50_workers0.pt.trace.json.gz", "input-bound"),
        ("torch_v100_resnet50_workers4.pt.trace.json.gz", "no-mixed-precision"),
        ("torch_mi300x_resnet_ddp8_rank0_stacks.json.gz", "exposed-communication"),
        ("tf_v100x8_multiworker.xplane.pb", "small-batch"),
    ],
)
def test_real_traces(name: str, id: str) -> None:
    answer = findings(run_of_trace(needs.trace(name)))
    assert answer.findings[0].id == id
    assert not any("failed" in each.reason for each in answer.not_judged)
