"""Curves of the timeline, from counters whose growth can be counted on fingers."""

from pathlib import Path

import numpy as np
import polars  # noqa: F401  it sets a variable of the environment when it is first imported

from build import MS, RunBuilder
from show.exporters.traced import two_ranks
from stepscope.analyze.run import load
from stepscope.analyze.timeline.counter_tracks import _busy
from stepscope.analyze.timeline.kept_timeline import keep_timeline, read_timeline
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SpanCategory


def counted_run(path: Path) -> Path:
    """A worker that makes three batches while two are taken; one busy core of 10 ms, then none."""
    run = RunBuilder(path)
    process = run.process(pid=100)
    for at_ms, cpu_ms in ((0, 0), (10, 10), (20, 10)):
        process.counter(CpuTimes, at_ms * MS, process_ns=cpu_ms * MS, thread_ns=cpu_ms * MS)
        process.counter(Memory, at_ms * MS, resident_bytes=2**20, peak_bytes=2**20)
    for end_ms in (4, 12):
        process.span(SpanCategory.INPUT, (end_ms - 1) * MS, end_ms * MS, name="DataLoader")
    process.write(ended_ns=20 * MS)
    worker = run.process(pid=200, role="worker", parent_pid=100)
    for end_ms in (3, 6, 9):
        worker.span(SpanCategory.STAGE, (end_ms - 1) * MS, end_ms * MS, name="fetch")
    worker.write(ended_ns=20 * MS)
    return path


def test_cpu_memory_and_ready_batches_are_curves_of_the_timeline(tmp_path: Path) -> None:
    found = {
        each.title: each for each in run_timeline(load(counted_run(tmp_path / "run"))).counters
    }
    assert found["CPU"].values == [1.0, 0.0]
    assert found["memory"].values == [2**20] * 3
    ready = found["batches ready"]
    assert [at // MS for at in ready.at_ns] == [
        23,
        24,
        26,
        29,
        32,
    ]  # it started 20 ms before recording
    assert ready.values == [1, 0, 1, 2, 1]


def test_how_busy_the_device_is_is_a_curve(tmp_path: Path) -> None:
    found = run_timeline(load(two_ranks(tmp_path / "run"))).counters
    busy = [each for each in found if each.title == "device 0 busy"]
    assert [each.process for each in busy] == [0, 2]
    assert max(busy[0].values) == 1.0  # 80 us of kernel, in parts of 30 us
    assert 0 < sum(busy[0].values) < 5


def test_kernels_that_overlap_keep_the_device_busy_once() -> None:
    start, end = np.array([0, 100, 300]), np.array([200, 150, 400])
    _, share = _busy(start, end)
    assert float(share.mean()) == 0.75


def test_curves_are_kept_with_a_long_timeline(tmp_path: Path) -> None:
    timeline = run_timeline(load(counted_run(tmp_path / "run")))
    kept = keep_timeline(tmp_path, timeline)
    assert read_timeline(tmp_path, kept).counters == timeline.counters
    assert timeline.counters
    assert timeline.tile(0, 20 * MS, 100).counters == []
