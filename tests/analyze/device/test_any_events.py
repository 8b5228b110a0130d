"""For any events of a device, its times and those of its rank are what counting moments gives."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from device_traces import Event, copy, kernel, launch, named_range, written
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.operators.device import device
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.ops import DeviceRow, IdleSplit

KINDS = ("gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD", "Memset (Device)")
Ran = tuple[int, int, int, int]  # kind, start, length, stream; in µs
ran = st.tuples(st.integers(0, 3), st.integers(5, 60), st.integers(1, 20), st.integers(7, 9))
some = st.lists(ran, min_size=1, max_size=8)


def event(number: int, kind: int, start: int, lasts: int, stream: int) -> Event:
    if kind == 3:
        return kernel(KINDS[3], start, lasts, number, stream=stream, category="gpu_memset")
    made = copy if kind == 2 else kernel
    return made(KINDS[kind], start, lasts, number, stream=stream)


def trace(path: Path, them: list[Ran], rank: int = 0) -> None:
    """Each was launched just before it began; one step around all of it."""
    events = [event(number, *each) for number, each in enumerate(them, 1)]
    calls = [launch(each[1] - 1, 1, number) for number, each in enumerate(them, 1)]
    written(path, named_range("ProfilerStep#1", 0, 100), *calls, *events,
            distributedInfo={"rank": rank})  # fmt: skip


def moments(them: list[Ran], *kinds: int) -> set[int]:
    return {at for kind, start, lasts, _ in them if kind in kinds
            for at in range(start, start + lasts)}  # fmt: skip


def row_of(them: list[Ran]) -> DeviceRow:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        trace(path, them)
        (row,) = device(run_of_trace(path)).ranks
    return row


def parts(split: IdleSplit) -> int:
    return split.host_wait_ns + split.kernel_wait_ns + split.other_ns


@settings(max_examples=60)
@given(some)
def test_a_devices_times_are_counted_in_moments(them: list[Ran]) -> None:
    row, busy = row_of(them), moments(them, 0, 1, 2, 3)
    compute, talks = moments(them, 0), moments(them, 1)
    assert row.wall_ns == 1000 * (max(busy) + 1 - min(busy))
    assert row.busy_ns == 1000 * len(busy)
    assert row.busy_ns + row.idle_ns == row.wall_ns
    assert row.compute_ns == 1000 * len(compute)
    assert row.communication_ns == 1000 * len(talks)
    assert row.exposed_communication_ns == 1000 * len(talks - compute)
    assert row.memcpy_ns == 1000 * len(moments(them, 2, 3))
    assert row.memset_ns == 1000 * len(moments(them, 3))
    assert parts(row.idle) == row.idle_ns
    for stream in row.streams:
        here = [each for each in them if each[3] == stream.stream]
        assert stream.busy_ns == 1000 * len(moments(here, 0, 1, 2, 3))
        assert parts(stream.idle) == stream.idle_ns
    (step,) = row.each_step
    assert step.busy_ns + step.idle_ns == step.duration_ns


@settings(max_examples=40)
@given(some, some)
def test_a_ranks_step_is_its_own_work_waiting_and_transfer(
    one: list[Ran], other: list[Ran]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for rank, them in enumerate((one, other)):
            trace(Path(folder) / f"{rank}.json", them, rank)
        rows = ranks(run_of_trace(Path(folder))).ranks
    for row, them in zip(rows, (one, other), strict=True):
        exposed = len(moments(them, 1) - moments(them, 0, 2, 3))
        assert row.step_ms == 0.1
        assert abs((row.communication_ms or 0) - exposed / 1000) < 1e-9
        waited, moved = row.waiting_ms or 0.0, row.transfer_ms or 0.0
        assert min(waited, moved) >= 0
        assert abs(waited + moved - exposed / 1000) < 1e-9
        assert abs((row.own_ms or 0) + exposed / 1000 - 0.1) < 1e-9
