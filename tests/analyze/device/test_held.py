"""The device's memory at its peak, named ranges, and kernels that one could replace."""

from pathlib import Path

from device_traces import allocation, kernel, launch, named_range, operator, work
from stepscope.analyze.device.annotations import annotations
from stepscope.analyze.device.memory import memory
from stepscope.analyze.device.sequences import sequences

US = 1000


def test_what_is_alive_at_the_peak_is_named_by_operator(tmp_path: Path) -> None:
    found = memory(
        work(tmp_path, kernel("a", 0, 1, 1), operator("aten::mm", 10, 20),
             operator("aten::empty", 12, 2), allocation(13, 100, 1), allocation(15, 50, 2),
             allocation(20, -50, 2), allocation(40, 70, 3), allocation(50, -100, 1),
             allocation(60, 30, 4), allocation(70, -1000, 9))
    )  # fmt: skip
    assert found is not None
    assert (found.peak_bytes, found.peak_at_ns, found.span_ns) == (1170, 27 * US, 57 * US)
    assert [(row.operator, row.size_bytes, row.is_earlier) for row in found.alive] == [
        (None, 1000, True), ("aten::empty", 100, False), (None, 70, False),
    ]  # fmt: skip
    assert sum(row.size_bytes for row in found.alive) == found.peak_bytes
    assert max(found.over_time) == 1170
    assert found.over_time[-1] == 1070 + 30


def test_memory_without_addresses_has_a_peak_but_no_rows(tmp_path: Path) -> None:
    found = memory(
        work(tmp_path, kernel("a", 0, 1, 1), allocation(10, -20, 0), allocation(20, 50, 0),
             allocation(30, 0, 0))
    )  # fmt: skip
    assert found is not None
    assert (found.peak_bytes, found.alive) == (50, [])


def test_a_trace_without_memory_events_has_no_memory(tmp_path: Path) -> None:
    assert memory(work(tmp_path, kernel("a", 0, 1, 1))) is None


def test_a_range_has_its_host_time_and_the_kernels_launched_in_it(tmp_path: Path) -> None:
    rows = annotations(
        work(tmp_path, named_range("ProfilerStep#1", 0, 50), named_range("ProfilerStep#2", 50, 50),
             named_range("forward", 10, 10), launch(12, 1, 1), kernel("a", 100, 7, 1),
             launch(60, 1, 2), kernel("b", 110, 3, 2), launch(61, 1, 3, thread=2),
             kernel("c", 120, 9, 3))
    )  # fmt: skip
    assert [(r.name, r.calls, r.host_ns, r.kernels, r.kernel_ns) for r in rows] == [
        ("ProfilerStep", 2, 100 * US, 2, 10 * US), ("forward", 1, 10 * US, 1, 7 * US),
    ]  # fmt: skip


def test_a_range_inside_one_of_its_own_name_counts_once(tmp_path: Path) -> None:
    (row,) = annotations(
        work(tmp_path, named_range("block", 0, 50), named_range("block", 10, 10), launch(12, 1, 1),
             kernel("a", 100, 7, 1))
    )  # fmt: skip
    assert (row.calls, row.host_ns, row.kernels, row.kernel_ns) == (2, 50 * US, 1, 7 * US)


def test_kernels_that_follow_each_other_again_and_again_are_one_sequence(tmp_path: Path) -> None:
    events = []
    for number in range(4):
        at = 100 * number
        events += [kernel("ampere_sgemm_128", at, 20, 4 * number),
                   kernel("add_kernel", at + 20, 5, 4 * number + 1),
                   kernel("mul_kernel", at + 27, 5, 4 * number + 2),
                   kernel("relu_kernel", at + 35, 5, 4 * number + 3)]  # fmt: skip
    (row,) = sequences(work(tmp_path, *events))
    assert row.kernels == ["add_kernel", "mul_kernel", "relu_kernel"]
    assert (row.times, row.launches_saved) == (4, 8)
    assert (row.total_ns, row.gap_ns) == (4 * 15 * US, 4 * 5 * US)


def test_a_sequence_does_not_cross_a_collective_or_a_copy(tmp_path: Path) -> None:
    events = []
    for number in range(5):
        at = 100 * number
        events += [kernel("add_kernel", at, 5, 1), kernel("ncclDevKernel_AllReduce", at + 10, 5, 2),
                   kernel("mul_kernel", at + 20, 5, 3),
                   kernel("Memset (Device)", at + 30, 5, 4, category="gpu_memset")]  # fmt: skip
    assert sequences(work(tmp_path, *events)) == []
