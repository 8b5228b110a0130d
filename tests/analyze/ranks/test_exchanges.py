"""What it gains to meet less often: ranks that come late in turns wait for the meeting itself."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.exposed_communication import judge
from stepscope.analyze.run import load, select
from stepscope.store.format import SpanCategory

STEPS, STEP, EXCHANGES = 40, 20 * MS, 10
LATE, SENDING = MS * 4 // 10, MS * 2 // 10


def judged(path: Path, *, in_turns: bool) -> Candidate:
    """Steps of 20 ms in which two ranks meet 10 times. One comes 0.4 ms after the other: each of
    them in turn, or always the second."""
    run = RunBuilder(path)
    for rank in range(2):
        process = run.process(pid=100 + rank, role="rank", rank=rank)
        process.step(0, begins=True)
        for step in range(STEPS):
            _meet(process, step, rank, in_turns=in_turns)
            process.step((step + 1) * STEP)
        process.write()
    recorded = load(run.path)
    process_of_run = select(recorded)
    assert process_of_run is not None
    (found,) = judge(Case(recorded, process_of_run))
    return found


def _meet(process: ProcessBuilder, step: int, rank: int, *, in_turns: bool) -> None:
    group = process.span_name("group 0")
    for number in range(EXCHANGES):
        at = step * STEP + number * 2 * MS
        is_late = rank == (number % 2 if in_turns else 1)
        process.span(
            SpanCategory.COMMUNICATION, at + (LATE if is_late else 0), at + LATE + SENDING,
            name="all_reduce", number=1 + step * EXCHANGES + number, group=group,
        )  # fmt: skip


def test_ranks_that_come_late_in_turns_wait_for_the_number_of_their_meetings(
    tmp_path: Path,
) -> None:
    """In each of ten, a rank sends for 0.2 ms, and in half of them waits for 0.4."""
    found = judged(tmp_path / "run", in_turns=True)
    assert found.share == pytest.approx((10 * 0.2 + 5 * 0.4) / 20, rel=0.01)
    assert found.saving.expected == pytest.approx(9 * 0.4 * MS, rel=0.01)
    assert found.evidence[1] == "10 exchanges a step, each of at least 400 µs."


def test_the_wait_for_a_rank_that_does_more_stays_however_often_they_meet(tmp_path: Path) -> None:
    found = judged(tmp_path / "run", in_turns=False)
    assert found.share == pytest.approx(10 * 0.2 / 20, rel=0.01)
    assert found.saving.expected == pytest.approx(9 * 0.2 * MS, rel=0.01)
