"""Which rank waits for which, on hand-made ranks whose waiting can be counted by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.run import load
from stepscope.errors import InputError
from stepscope.model import Location
from stepscope.model.ranks import RanksAnswer
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SpanCategory

STEPS = 40


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def collective(
    process: ProcessBuilder, number: int, start_ns: int, end_ns: int, *, group: str = "group 0"
) -> None:
    process.span(
        SpanCategory.COMMUNICATION, start_ns, end_ns, name=group, number=number,
        group=process.span_name(group),
    )  # fmt: skip


def launch(
    run: RunBuilder, arrivals_ms: Sequence[Sequence[int]], *, shift_ms: Sequence[int] = ()
) -> list[ProcessBuilder]:
    """One collective in each step of 20 ms, over at its 18th: `arrivals_ms[rank][step % n]`."""
    started = []
    for rank, arrivals in enumerate(arrivals_ms):
        shift = shift_ms[rank] if shift_ms else 0
        process = run.process(
            pid=100 + rank, role="rank", rank=rank, host="there" if shift else "here"
        )
        at = shift * MS
        process.step(at, begins=True)
        for step in range(STEPS):
            arrival = at + arrivals[step % len(arrivals)] * MS
            collective(process, step + 1, arrival, at + 18 * MS)
            at += 20 * MS
            process.step(at)
        started.append(process)
    return started


def answer(run: RunBuilder, processes: Sequence[ProcessBuilder]) -> RanksAnswer:
    for process in processes:
        process.write()
    return ranks(load(run.path))


def test_who_is_there_first_waits_for_the_last(run: RunBuilder) -> None:
    found = answer(run, launch(run, [[4], [6], [14]]))
    assert [row.waiting_ms for row in found.ranks] == pytest.approx([10, 8, 0])
    assert [row.communication_ms for row in found.ranks] == pytest.approx([14, 12, 4])
    assert [row.transfer_ms for row in found.ranks] == pytest.approx([4, 4, 4])
    assert [row.own_ms for row in found.ranks] == pytest.approx([6, 8, 16])
    assert [row.step_ms for row in found.ranks] == pytest.approx([20, 20, 20])
    assert [row.steps for row in found.ranks] == [STEPS] * 3
    assert found.skew_ms == pytest.approx(10)
    assert found.straggler is not None
    assert found.straggler.rank == 2
    assert found.straggler.cost_ms == pytest.approx(10)
    assert "in python it spends 9.00 ms more than the others" in found.straggler.why


def test_waiting_that_is_done_later_counts_when_it_is_done(run: RunBuilder) -> None:
    """Started at 2 and waited for from 10 to 18, while the other rank comes at 15."""
    early, late = launch(run, [[4], [15]])
    early.events = [each for each in early.events if each[5] != SpanCategory.COMMUNICATION]
    for step in range(STEPS):
        at = step * 20 * MS
        collective(early, step + 1, at + 2 * MS, at + 3 * MS)
        collective(early, step + 1, at + 10 * MS, at + 18 * MS)
    found = answer(run, [early, late])
    assert [row.waiting_ms for row in found.ranks] == pytest.approx([1 + 5, 0])


@pytest.mark.parametrize(
    ("hosts", "computed_ms", "lost_ms", "is_straggler"),
    [
        (["here", "here"], [4, 4], [0, 4.5], False),
        (["a", "b"], [4, 4], [0, 4.5], True),  # what to look for: other jobs there
        (["here", "here"], [3, 6], [4.5, 9], True),  # it computes more, and loses its core as often
    ],
)
def test_a_rank_whose_core_another_program_had_does_no_more_than_those_beside_it(
    run: RunBuilder,
    hosts: list[str],
    computed_ms: list[float],
    lost_ms: list[float],
    is_straggler: bool,
) -> None:
    """It comes 5 ms late, and had no core for 4.5 ms more than the other."""
    processes = launch(run, [[4], [9]])
    for rank, process in enumerate(processes):
        process.info["host"] = hosts[rank]
        for step in (0, STEPS):
            at = step * 20 * MS
            process.counter(Memory, at, run_delay_ns=round(step * lost_ms[rank] * MS))
            process.counter(CpuTimes, at, process_ns=round(step * computed_ms[rank] * MS))
    assert (answer(run, processes).straggler is not None) == is_straggler


def test_what_other_ranks_hold_up_their_steps_by_as_well_is_no_fault_of_one(
    run: RunBuilder,
) -> None:
    """In four of five steps the first is 6 ms late, in the fifth the second."""
    found = answer(run, launch(run, [[12, 12, 12, 12, 6], [6, 6, 6, 6, 12]]))
    assert found.straggler is not None
    assert found.straggler.rank == 0
    assert found.straggler.cost_ms == pytest.approx((4 - 1) * 6 / 5)


def test_ranks_that_come_last_by_turns_are_no_stragglers(run: RunBuilder) -> None:
    found = answer(run, launch(run, [[4, 14], [14, 4]]))
    assert found.straggler is None
    assert found.skew_ms == pytest.approx(10)
    assert [row.waiting_ms for row in found.ranks] == pytest.approx([5, 5], abs=0.5)


def test_a_little_late_is_no_straggler(run: RunBuilder) -> None:
    slow = [5] * 9 + [4]
    assert answer(run, launch(run, [[5], slow])).straggler is None


def test_clocks_of_two_hosts_are_brought_together(run: RunBuilder) -> None:
    """The second host's clock is 40 ms ahead, two steps."""
    found = answer(run, launch(run, [[4], [14]], shift_ms=[0, 40]))
    assert [row.waiting_ms for row in found.ranks] == pytest.approx([10, 0])
    assert [row.host for row in found.ranks] == ["here", "there"]


def test_groups_do_not_mix(run: RunBuilder) -> None:
    """Collectives with the same number in other groups are different ones."""
    processes = launch(run, [[4], [14]])
    for rank, process in enumerate(processes):
        collective(process, 1, 5 * MS, 6 * MS, group=f"group of {rank} alone")
    assert [row.waiting_ms for row in answer(run, processes).ranks] == pytest.approx([10, 0])


def test_the_line_that_is_slower_than_on_the_others_is_reported(run: RunBuilder) -> None:
    text = "def train():\n    for batch in loader:\n        log(batch)\n        step(batch)\n"
    text += "def log(batch):\n    save(batch)\n"
    processes = launch(run, [[4], [4], [14]])
    for rank, process in enumerate(processes):
        log_ns = (12 if rank == 2 else 2) * MS * STEPS
        file = process.file(text=text)
        train = process.code("train", file=file)
        process.lines(train, 1, [(0, 0), (41, MS), (STEPS, log_ns + MS), (STEPS, 3 * MS)])
        log = process.code("log", file=file, first_line=5)
        process.lines(log, 5, [(0, 0), (STEPS, log_ns)], calls=STEPS)
    found = answer(run, processes).straggler
    assert found is not None
    assert found.location == Location(file="train.py", line=6, function="log")
    assert found.source == "    save(batch)"


def test_set_up_of_one_rank_is_not_the_line(run: RunBuilder) -> None:
    """Before the steps, it downloads in its own loop what the others wait for."""
    processes = launch(run, [[14], [4]])
    code = processes[0].code("download")
    processes[0].lines(code, 1, [(0, 0), (50, 60_000 * MS)])
    found = answer(run, processes).straggler
    assert found is not None
    assert (found.rank, found.location) == (0, None)


def test_the_killed_rank_is_named_before_those_that_died_of_it(run: RunBuilder) -> None:
    run.supervisor(ended_ns=1_000 * MS, exit_status=1)
    first, second, third = launch(run, [[4], [4], [4]])
    first.info["status"] = second.info["status"] = "running"
    third.info["status"] = "running"
    second.events = [each for each in second.events if each[2] < second.ticks(300 * MS)]
    second.last_ns = 300 * MS
    found = answer(run, [first, second, third])
    assert [row.status for row in found.ranks] == ["killed"] * 3
    assert found.notes[0].startswith("Rank 1 was killed after 14 steps, then ranks 0, 2.")


def test_ranks_that_recorded_nothing_are_named(tmp_path: Path) -> None:
    launcher = {"variable": "RANK", "ranks": 4, "id": "job", "restart": 0}
    run = RunBuilder(tmp_path / "run", launcher=launcher)
    found = answer(run, launch(run, [[4], [14]]))
    assert found.expected == 4
    assert found.notes[0] == "Nothing was recorded on ranks 2, 3."


def test_of_a_launch_that_was_started_over_the_last_attempt_counts(run: RunBuilder) -> None:
    attempts = launch(run, [[4], [14]])
    again = run.process(pid=300, role="rank", rank=1)
    again.events.clear()
    again.clock(900 * MS)
    again.step(950 * MS)
    found = answer(run, [*attempts, again])
    assert [row.pid for row in found.ranks] == [100, 300]


def test_workers_of_a_rank_are_no_ranks(run: RunBuilder) -> None:
    processes = launch(run, [[4], [14]])
    worker = run.process(pid=200, role="worker", rank=1)
    found = answer(run, [*processes, worker])
    assert [row.pid for row in found.ranks] == [100, 101]


def test_one_rank_alone_is_asked_for(run: RunBuilder) -> None:
    for process in launch(run, [[4], [14]]):
        process.write()
    found = ranks(load(run.path), rank=1)
    assert [row.rank for row in found.ranks] == [1]
    assert found.straggler is not None
    with pytest.raises(InputError, match="no rank 5"):
        ranks(load(run.path), rank=5)


def test_ranks_without_collectives_know_nothing_of_waiting(run: RunBuilder) -> None:
    processes = launch(run, [[4], [14]])
    for process in processes:
        process.events = [each for each in process.events if each[5] != SpanCategory.COMMUNICATION]
    found = answer(run, processes)
    assert [row.waiting_ms for row in found.ranks] == [None, None]
    assert [row.transfer_ms for row in found.ranks] == [0.0, 0.0]
    assert (found.skew_ms, found.straggler) == (None, None)
    assert any("No collective was seen" in note for note in found.notes)


def test_a_run_of_ranks_below_a_launcher_is_about_rank_0(run: RunBuilder) -> None:
    launcher = run.process(pid=50)
    launcher.write(ended_ns=900 * MS)
    answer(run, launch(run, [[4], [14]]))
    main = load(run.path).main
    assert main is not None
    assert main.info.pid == 100
