"""Findings in traces that other tools wrote: small ones made here, and real ones if available."""

import json
from pathlib import Path
from typing import Any

import pytest

import needs
from stepscope.advise.findings import findings
from stepscope.analyze.answers.input import input as show_input
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


def test_a_wait_that_returns_at_once_is_not_to_blame_for_the_python_after_it(
    tmp_path: Path,
) -> None:
    """As torch's profiler synchronises where it starts: the device has nothing to do by then."""
    made = Made().add("cudaDeviceSynchronize", "cuda_runtime", 10, 15)
    found = made.add("relu", "kernel", 6_000, 3_900).findings(tmp_path).findings
    assert [each.id for each in found] == ["device-idle"]
    assert found[0].share == pytest.approx(0.6, abs=0.02)


def test_a_wait_costs_no_more_than_it_held_the_host_up(tmp_path: Path) -> None:
    """It returns a millisecond later, and the device idles for three."""
    made = Made().add("relu", "kernel", 0, 5_000)
    made.add("cudaStreamSynchronize", "cuda_runtime", 4_050, 1_000)
    found = {each.id: each for each in made.add("relu", "kernel", 8_050, 1_900)
             .findings(tmp_path).findings}  # fmt: skip
    assert found["sync-stall"].share == pytest.approx(0.1, abs=0.01)
    assert found["device-idle"].share == pytest.approx(0.21, abs=0.01)


def test_a_copy_to_pageable_memory_waits_for_the_device(tmp_path: Path) -> None:
    """As in `.item()`: the call that synchronises after it finds nothing to wait for."""
    made = Made().add("relu", "kernel", 0, 5_000)
    made.add("cudaMemcpyAsync", "cuda_runtime", 1_000, 4_050, correlation=3)
    made.add("Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", 5_000, 5, correlation=3)
    made.add("cudaStreamSynchronize", "cuda_runtime", 5_055, 5)
    found = made.add("relu", "kernel", 8_050, 1_900).findings(tmp_path).findings
    assert found[0].id == "sync-stall"
    assert found[0].share == pytest.approx(0.3, abs=0.01)
    assert "cudaMemcpyAsync" in found[0].evidence[0]


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


def test_one_long_stretch_is_not_for_lack_of_a_larger_batch(tmp_path: Path) -> None:
    """Its kernels are short, but follow each other at once when the host has got to them."""
    made = Made().add("prepare.py(7): prepare", "python_function", 10, 9_400)
    made.add("train.py(3): step", "python_function", 5, 9_980)
    for index in range(60):
        made.add("cudaLaunchKernel", "cuda_runtime", 9_490 + 8 * index, 2, correlation=index + 1)
        made.add("relu", "kernel", 9_500 + 8 * index, 5, correlation=index + 1)
    found = made.findings(tmp_path).findings
    assert [each.id for each in found] == ["device-idle"]
    assert found[0].evidence[1] == (
        "Most of that is one stretch of 9.50 ms at the beginning of the step, in which the host is "
        "in prepare (prepare.py:7)."
    )


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
        ("tf_v100x8_multiworker.xplane.pb", "device-idle"),
    ],
)
def test_real_traces(name: str, id: str) -> None:
    answer = findings(run_of_trace(needs.trace(name)))
    assert answer.findings[0].id == id
    assert not any("failed" in each.reason for each in answer.not_judged)


# --- steps, devices, frameworks -------------------------------------------------------------------


def in_words(answer: FindingsAnswer) -> str:
    parts = [(each.title, *each.evidence, each.confidence) for each in answer.findings]
    return " ".join([answer.verdict, *(" ".join(part) for part in parts)])


def test_a_trace_without_marked_steps_is_not_judged_by_step(tmp_path: Path) -> None:
    made = Made().add("volta_sgemm_128x64_nn", "kernel", 0, 2_000)
    made.add("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation",
             2_000, 4_000)  # fmt: skip
    made.add("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 9_000, 900, bytes=2**20)
    made.add("ncclDevKernel_AllReduce_Sum_f32", "kernel", 9_500, 500)
    answer = made.findings(tmp_path, marked=False)
    assert len(answer.findings) >= 3
    assert "traced time" in answer.verdict
    assert "a step" not in in_words(answer).replace("what a step is", "")
    assert "each step" not in in_words(answer)
    assert "1 steps" not in in_words(answer)
    assert all("nothing marks the steps" in each.confidence for each in answer.findings)


def test_kernels_outside_the_steps_do_not_count(tmp_path: Path) -> None:
    """The trace goes on for a step that nothing marks."""
    made = Made().add("volta_sgemm_128x64_nn", "kernel", 0, 5_000)
    made.add("relu", "kernel", 5_000, 4_990)
    after = {"ph": "X", "name": "volta_sgemm_128x64_nn", "cat": "kernel", "pid": 0, "tid": 7}
    made.events.append({**after, "ts": 6 * STEP_US, "dur": 50_000, "args": {}})
    found = {each.id: each for each in made.findings(tmp_path).findings}
    assert found["no-mixed-precision"].share == pytest.approx(0.5, abs=0.01)


def test_the_work_of_two_devices_is_not_added_into_one(tmp_path: Path) -> None:
    """Each idles half of the time, in turns; together they never do."""
    made = Made().add("relu", "kernel", 0, 5_000, device=0)
    answer = made.add("tanh", "kernel", 5_000, 4_900, device=1).findings(tmp_path)
    assert [each.id for each in answer.findings] == ["device-idle"]
    assert answer.findings[0].share == pytest.approx(0.5, abs=0.01)
    assert "device 0, the busiest of 2," in answer.findings[0].evidence[0]


def test_two_waits_that_end_in_the_same_gap_share_it(tmp_path: Path) -> None:
    made = Made().add("relu", "kernel", 0, 5_000)
    for thread in (100, 101):  # both wait for the same kernel
        made.add("cudaStreamSynchronize", "cuda_runtime", 1_000, 4_100, tid=thread)
    found = made.add("relu", "kernel", 8_000, 1_990).findings(tmp_path).findings
    assert found[0].id == "sync-stall"
    assert found[0].share == pytest.approx(0.29, abs=0.005)


def test_show_input_and_the_finding_have_the_same_wait(tmp_path: Path) -> None:
    made = Made().add("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                      "user_annotation", 0, 4_000)  # fmt: skip
    answer = made.add("relu", "kernel", 4_000, 5_900).findings(tmp_path)
    shown = show_input(run_of_trace(tmp_path / "trace.json"))
    assert shown.loader is not None
    assert (shown.loader.wait_ms, shown.loader.workers, shown.loader.steps) == (4.0, 0, 5)
    assert shown.limit == "number"
    assert "4.00 ms of a step" in answer.findings[0].evidence[0]


def test_advice_about_jaxs_own_json_is_for_jax(tmp_path: Path) -> None:
    made = Made().add("PjitFunction(step)", "", 0, 100).add("fusion", "kernel", 0, 3_000)
    answer = made.findings(tmp_path, marked=False)
    assert "jax" in answer.findings[0].fix


def test_of_a_real_trace_input_and_finding_agree() -> None:
    run = run_of_trace(needs.trace("torch_v100_resnet50_workers0.pt.trace.json.gz"))
    shown, found = show_input(run), findings(run).findings[0]
    assert shown.loader is not None
    assert f"{shown.loader.wait_ms:.1f} ms of a step" in found.evidence[0]
    assert found.share == pytest.approx(59.262 / 177.6, abs=0.02)  # DataLoader, in torch's plugin
