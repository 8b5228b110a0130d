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
    answer = asked(tmp_path, rank0=early, rank1=[*late, allreduce(270, 280, 200)])
    assert answer.traced is not None
    assert answer.traced.matched == 2  # not those of the third step
    assert any("not have the same number" in note for note in answer.notes)


def test_a_collective_that_ended_before_the_other_rank_came_is_another_one(tmp_path: Path) -> None:
    early = [allreduce(at, at + 10, at) for at in (1000, 2000, 3000)]
    late = [allreduce(at, at + 10, at) for at in (1000, 2000, 3500)]
    answer = asked(tmp_path, rank0=early, rank1=late)
    assert answer.traced is not None
    assert answer.traced.matched == 2
    assert any("1 collective ended" in note for note in answer.notes)


def test_waiting_is_a_part_of_the_communication_that_nothing_hides(tmp_path: Path) -> None:
    """The first rank computes in half of the 40 µs that it waits."""
    early, late = late_and_early(CAUSES["compute"])
    hiding = [kernel("gemm", 100 * step + 10, 20, 50 + step, stream=8) for step in range(3)]
    row = asked(tmp_path, rank0=early + hiding, rank1=late).ranks[0]
    assert row.communication_ms == pytest.approx(0.03)
    assert row.waiting_ms == pytest.approx(0.02)
    assert row.transfer_ms == pytest.approx(0.01)


def test_ranks_meet_in_their_own_process_groups(tmp_path: Path) -> None:
    """Of four ranks, each pair reduces on its own; the odd ranks come last to that."""
    ranks = {}
    for rank in range(4):
        early, late = late_and_early(CAUSES["compute"])
        group = {"Process Group Name": str(rank // 2), "Process Group Ranks": f"pair {rank // 2}"}
        chosen = late if rank % 2 else early
        named = [{**each, "args": each["args"] | group} for each in chosen]
        ranks[f"rank{rank}"] = [new if old["name"] == NCCL else old
                                for old, new in zip(chosen, named, strict=True)]  # fmt: skip
    traced = asked(tmp_path, **ranks).traced
    assert traced is not None
    assert traced.matched == 6
    assert [(row.rank, row.last, row.why) for row in traced.arrivals] == [
        (0, 0, None), (1, 3, "compute"), (2, 0, None), (3, 3, "compute"),
    ]  # fmt: skip
    assert [row.waiting_ms for row in traced.arrivals] == pytest.approx([0.12, 0, 0.12, 0])
    assert [(row.group, row.calls) for row in traced.groups] == [("0", 6), ("1", 6)]


def test_a_kernel_that_begins_after_its_step_still_belongs_to_it(tmp_path: Path) -> None:
    """On one rank it begins in the next step: the step is that of the launch."""

    def one(shift: float) -> list[Event]:
        return [
            event
            for step in range(4)
            for event in (
                named_range(f"ProfilerStep#{step}", 100 * step, 100),
                launch(100 * step + 80, 5, 10 + step),
                allreduce(100 * step + 95 + shift, 100 * step + 120, 10 + step),
            )
        ]  # fmt: skip

    traced = asked(tmp_path, rank0=one(0), rank1=one(10)).traced
    assert traced is not None
    assert traced.matched == 4
    assert [row.last for row in traced.arrivals] == [0, 4]


def test_traces_of_the_host_alone_say_who_comes_last_and_why(tmp_path: Path) -> None:
    def one(late: float) -> list[Event]:
        return [
            event
            for step in range(3)
            for event in (
                named_range(f"ProfilerStep#{step}", 100 * step, 100),
                operator("aten::mm", 100 * step, 10 + late),
                named_range("gloo:all_reduce", 100 * step + 10 + late, 50 - late, thread=2),
            )
        ]

    answer = asked(tmp_path, rank0=one(0), rank1=one(30))
    assert answer.traced is not None
    assert [(row.last, row.why) for row in answer.traced.arrivals] == [(0, None), (3, "compute")]
    assert [row.waiting_ms for row in answer.ranks] == pytest.approx([0.03, 0.0])
    assert answer.straggler is not None
    assert answer.straggler.why == (
        "it comes last to 3 of 3 collectives, because it computes for longer than the others"
    )


def test_nobody_is_last_where_all_come_at_once(tmp_path: Path) -> None:
    events = [allreduce(at, at + 10, at) for at in (1000, 2000, 3000)]
    traced = asked(tmp_path, rank0=events, rank1=events).traced
    assert traced is not None
    assert [(row.last, row.why) for row in traced.arrivals] == [(0, None), (0, None)]
    assert [row.last_rank for row in traced.collectives] == [None]


def test_ranks_without_a_trace_are_said(tmp_path: Path) -> None:
    for rank in range(2):
        written(tmp_path / f"{rank}.json", *late_and_early([])[rank],
                distributedInfo={"rank": rank, "world_size": 8})  # fmt: skip
    notes = ranks(run_of_trace(tmp_path)).notes
    assert "These are 2 of 8 ranks: one of the others may be the last." in notes


@pytest.mark.parametrize(
    ("name", "factor"),
    [("allreduce", 1.75), ("_allgather_base", 0.875), ("reduce_scatter", 0.875),
     ("all_to_allv", 0.875), ("broadcast", 1.0)],
)  # fmt: skip
def test_the_bus_carries_what_nccl_tests_says(name: str, factor: float) -> None:
    assert bus_factor(name, 8) == factor
