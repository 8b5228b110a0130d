"""Launches, queues, synchronisations and copies, counted on fingers."""

from pathlib import Path

import pytest

from device_traces import Event, call, copy, kernel, launch, operator, work
from stepscope.analyze.device.copies import copies
from stepscope.analyze.device.launches import launches
from stepscope.analyze.device.queues import queue_of, queues
from stepscope.analyze.device.synchronisations import synchronisations

US = 1000


def test_the_delay_is_from_the_end_of_the_call_and_never_negative(tmp_path: Path) -> None:
    stats = launches(
        work(tmp_path, launch(0, 10, 1), kernel("a", 15, 4, 1), launch(20, 10, 2),
             kernel("b", 25, 30, 2), launch(40, 10, 3), kernel("c", 250, 30, 3),
             kernel("unlaunched", 300, 1, 99))
    )  # fmt: skip
    assert stats is not None
    assert (stats.launches, stats.call_ns, stats.median_call_ns) == (3, 30 * US, 10 * US)
    assert (stats.median_delay_ns, stats.max_delay_ns) == (5 * US, 200 * US)
    assert (stats.slow_calls, stats.late_starts) == (0, 1)


def test_kernels_shorter_than_their_launch_are_counted(tmp_path: Path) -> None:
    stats = launches(
        work(tmp_path, launch(0, 10, 1), kernel("a", 15, 4, 1), launch(20, 10, 2),
             kernel("b", 35, 10, 2))
    )  # fmt: skip
    assert stats is not None
    assert (stats.short_kernels, stats.short_kernel_ns, stats.short_call_ns) == (1, 4 * US, 10 * US)


def test_a_trace_that_says_nothing_about_launches_has_no_figures_of_them(tmp_path: Path) -> None:
    works = work(tmp_path, kernel("a", 0, 5, 1))
    assert launches(works) is None
    assert queues(works) == []


def test_a_queue_has_what_is_launched_and_has_not_begun(tmp_path: Path) -> None:
    works = work(tmp_path, launch(0, 1, 1), launch(10, 1, 2), launch(20, 1, 3),
                 kernel("a", 30, 10, 1), kernel("b", 40, 10, 2), kernel("c", 50, 10, 3),
                 launch(5, 1, 4), kernel("other", 6, 1, 4, stream=8))  # fmt: skip
    queue = queue_of(works[0], 7)
    assert (queue.at_ns - queue.at_ns[0]).tolist() == [0, 10_000, 20_000, 30_000, 40_000, 50_000]
    assert queue.length.tolist() == [1, 2, 3, 2, 1, 0]
    first, second = queues(works)
    assert (first.stream, first.launches, first.max_length, first.full_ns) == (7, 3, 3, 0)
    assert first.mean_length == pytest.approx((10 + 20 + 30 + 20 + 10) / 50)
    assert (second.stream, second.launches) == (8, 1)


def test_a_full_queue_blocks_the_calls_that_find_it_full(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(1026):  # all are launched before the first begins
        events += [launch(number, 0.5, number + 1), kernel("k", 5000 + number, 1, number + 1)]
    (row,) = queues(work(tmp_path, *events))
    assert row.max_length == 1026
    assert row.blocked_ns == 2 * 500  # the last two
    # From the 1,024th launch until only 1,023 are left: the third kernel begins.
    assert row.full_ns == (5002 - 1023) * US


def test_a_synchronisation_costs_the_host_its_time_and_the_device_the_gap_after_it(
    tmp_path: Path,
) -> None:
    (row,) = synchronisations(
        work(tmp_path, launch(0, 1, 1), kernel("a", 5, 45, 1),
             operator("aten::item", 10, 45), call("cudaStreamSynchronize", 12, 40),
             launch(70, 1, 2), kernel("b", 80, 10, 2))
    )  # fmt: skip
    assert (row.name, row.operator, row.calls) == ("cudaStreamSynchronize", "aten::item", 1)
    assert (row.total_ns, row.busy_ns, row.idle_after_ns) == (40 * US, 38 * US, 28 * US)


def test_a_gap_after_several_synchronisations_is_counted_once(tmp_path: Path) -> None:
    (row,) = synchronisations(
        work(tmp_path, launch(0, 1, 1), kernel("a", 5, 5, 1), call("cudaEventSynchronize", 11, 1),
             call("cudaEventSynchronize", 20, 1), launch(30, 1, 2), kernel("b", 40, 10, 2))
    )  # fmt: skip
    assert row.idle_after_ns == (20 - 12 + 40 - 21) * US


def test_a_copy_call_that_returns_when_its_copy_is_done_is_a_synchronisation(
    tmp_path: Path,
) -> None:
    rows = synchronisations(
        work(tmp_path, launch(0, 1, 1), kernel("a", 5, 45, 1),
             call("cudaMemcpyAsync", 10, 50, 2), copy("Memcpy DtoH (Device -> Pageable)", 50, 5, 2),
             call("cudaMemcpyAsync", 70, 1, 3), copy("Memcpy HtoD (Pinned -> Device)", 75, 5, 3))
    )  # fmt: skip
    assert [(row.name, row.calls, row.total_ns) for row in rows] == [("cudaMemcpyAsync", 1, 50_000)]


def test_copies_have_their_bandwidth_by_kind_and_over_time(tmp_path: Path) -> None:
    rows = copies(
        work(tmp_path, copy("Memcpy HtoD (Pinned -> Device)", 0, 10, 1, bytes=100_000),
             copy("Memcpy HtoD (Pinned -> Device)", 90, 10, 2, bytes=50_000),
             copy("Memcpy DtoH (Device -> Pageable)", 50, 1, 3), kernel("a", 20, 1, 4))
    )  # fmt: skip
    down, up = rows[1], rows[0]
    assert (up.kind, up.calls, up.size_bytes) == ("HtoD (Pinned -> Device)", 2, 150_000)
    assert up.bytes_per_s == pytest.approx(150_000 / 20e-6)
    assert (sum(up.over_time[:10]), sum(up.over_time[10:90]), sum(up.over_time[90:])) == (
        100_000, 0, 50_000,
    )  # fmt: skip
    assert (down.kind, down.size_bytes, down.bytes_per_s, down.over_time) == (
        "DtoH (Device -> Pageable)", None, None, [],
    )  # fmt: skip
