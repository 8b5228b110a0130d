"""Ranks in traces of devices: who comes last and why, waiting and transfer, bandwidth, groups."""

from pathlib import Path
from typing import Any

import pytest

from device_traces import Event, kernel, launch, named_range, operator, written
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.ranks.bandwidth import bus_factor
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.ranks import RanksAnswer

ABOUT = {"Collective name": "allreduce", "In msg nelems": 1_000_000, "Out msg nelems": 1_000_000,
         "Group size": 2, "dtype": "Float", "Process Group Name": "0",
         "Process Group Ranks": "[0, 1]"}  # fmt: skip
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def allreduce(start: float, until: float, number: int, **about: Any) -> Event:
    return kernel(NCCL, start, until - start, number, stream=20, **(ABOUT | about))


def asked(folder: Path, **by_rank: list[Event]) -> RanksAnswer:
    for name, events in by_rank.items():
        rank = int(name.removeprefix("rank"))
        written(folder / f"{name}.json", *events, distributedInfo={"rank": rank})
    return ranks(run_of_trace(folder))


def late_and_early(cause: list[Event], shift: float = 0) -> tuple[list[Event], list[Event]]:
    """Three steps of 100 µs; the second rank comes 40 µs later to each collective."""
    early, late = [], []
    for step in range(3):
        at = 100 * step
        early += [named_range(f"ProfilerStep#{step}", at, 100), kernel("gemm", at, 10, 3 * step),
                  allreduce(at + 10, at + 60, 100 + step)]  # fmt: skip
        late += [{**each, "ts": each["ts"] + at + shift} for each in cause]
        late += [named_range(f"ProfilerStep#{step}", at + shift, 100),
                 allreduce(at + 50 + shift, at + 60 + shift, 100 + step)]  # fmt: skip
    return early, late


CAUSES = {
    "compute": [kernel("gemm", 0, 50, 1)],
    "input": [kernel("gemm", 40, 10, 1), operator("enumerate(DataLoader)#x.__next__", 0, 40)],
    "host": [kernel("gemm", 40, 10, 1), launch(39, 1, 1)],
}


@pytest.mark.parametrize("why", CAUSES)
def test_the_rank_that_comes_last_has_what_it_spends_more_on(tmp_path: Path, why: str) -> None:
    early, late = late_and_early(CAUSES[why])
    answer = asked(tmp_path, rank0=early, rank1=late)
    assert answer.traced is not None
    first, second = answer.traced.arrivals
    assert (first.last, first.why, second.last, second.why) == (0, None, 3, why)
    assert first.waiting_ms == pytest.approx(0.12)
    assert second.held_ms == pytest.approx(0.12)
    assert answer.straggler is not None
    assert answer.straggler.rank == 1
    assert answer.straggler.cost_ms == pytest.approx(0.04)


def test_waiting_is_told_from_transfer_though_the_clocks_differ(tmp_path: Path) -> None:
    early, late = late_and_early(CAUSES["compute"], shift=7_000_000)
    answer = asked(tmp_path, rank0=early, rank1=late)
    assert answer.traced is not None
    (row,) = answer.traced.collectives
    assert (row.calls, row.size_bytes, row.group, row.last_rank) == (3, 4_000_000, "0", 1)
    assert row.skew_ms == pytest.approx(0.04)
    assert row.transfer_ms == pytest.approx(0.01)
    assert row.algorithm_bytes_per_s == pytest.approx(4e6 / 10e-6)
    assert row.bus_bytes_per_s == row.algorithm_bytes_per_s  # two ranks: 2 · (2 - 1) / 2
    assert answer.skew_ms == pytest.approx(0.04)
    assert answer.ranks[0].waiting_ms == pytest.approx(0.04)
    assert answer.ranks[0].transfer_ms == pytest.approx(0.01)


def test_one_trace_has_bandwidth_but_no_arrivals(tmp_path: Path) -> None:
    answer = asked(tmp_path, rank0=late_and_early([])[0])
    assert answer.traced is not None
    assert answer.traced.arrivals == []
    (row,) = answer.traced.collectives
    assert (row.skew_ms, row.transfer_ms, row.last_rank) == (None, None, None)
    assert row.algorithm_bytes_per_s == pytest.approx(4e6 / 50e-6)
    assert any("waiting for others and transfer are one time" in note for note in answer.notes)


def test_communication_is_summed_by_process_group(tmp_path: Path) -> None:
    half = {"Process Group Name": "1", "Process Group Ranks": "[0]", "In msg nelems": 10,
            "Out msg nelems": 10, "dtype": "BFloat16"}  # fmt: skip
    answer = asked(tmp_path, rank0=[allreduce(0, 10, 1), allreduce(20, 25, 2, **half)])
    assert answer.traced is not None
    assert [(row.group, row.ranks, row.calls, row.size_bytes) for row in answer.traced.groups] == [
        ("0", "[0, 1]", 1, 4_000_000), ("1", "[0]", 1, 20),
    ]  # fmt: skip


def test_collectives_that_ranks_do_not_share_are_not_compared(tmp_path: Path) -> None:
    early, late = late_and_early(CAUSES["compute"])
    answer = asked(tmp_path, rank0=early, rank1=late[:-1])
    assert answer.traced is not None
    assert answer.traced.matched == 0
    assert any("not have the same number" in note for note in answer.notes)


def test_a_collective_that_ended_before_the_other_rank_came_is_another_one(tmp_path: Path) -> None:
    early = [allreduce(at, at + 10, at) for at in (1000, 2000, 3000)]
    late = [allreduce(at, at + 10, at) for at in (1000, 2000, 3500)]
    answer = asked(tmp_path, rank0=early, rank1=late)
    assert answer.traced is not None
    assert answer.traced.matched == 2
    assert any("1 collectives ended" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("name", "factor"),
    [("allreduce", 1.75), ("_allgather_base", 0.875), ("reduce_scatter", 0.875),
     ("all_to_allv", 0.875), ("broadcast", 1.0)],
)  # fmt: skip
def test_the_bus_carries_what_nccl_tests_says(name: str, factor: float) -> None:
    assert bus_factor(name, 8) == factor
