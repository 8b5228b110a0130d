"""What is gained if the slow rank's work is redistributed, or not done at all."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.straggler_rank import judge
from stepscope.analyze.run import load, select
from stepscope.store.format import SpanCategory

STEPS = 40
TEXT = """def train():
    for batch in loader:
        read(batch)
def read(batch):
    parse(batch)
"""


def judged(path: Path, arrivals_ms: list[int], *, only_last_reads: bool) -> Candidate:
    """Steps of 20 ms with one collective, to which each rank comes at its time. The last one's
    delay is spent in `read`, which the others run, too, or do not run at all."""
    run = RunBuilder(path)
    for rank, arrival_ms in enumerate(arrivals_ms):
        process = run.process(pid=100 + rank, role="rank", rank=rank)
        _steps(process, arrival_ms)
        file = process.file(text=TEXT)
        reads = rank == len(arrivals_ms) - 1 or not only_last_reads
        hits, ns = (STEPS, (arrival_ms - 2) * MS * STEPS) if reads else (0, 0)
        process.lines(process.code("train", file=file), 1, [(0, 0), (41, MS), (hits, ns)])
        process.lines(process.code("read", file=file, first_line=4), 4, [(0, 0), (hits, ns)])
        process.write()
    recorded = load(run.path)
    process_of_run = select(recorded)
    assert process_of_run is not None
    (found,) = judge(Case(recorded, process_of_run))
    return found


def _steps(process: ProcessBuilder, arrival_ms: int) -> None:
    group = process.name("name", name="group 0")
    process.step(0, begins=True)
    for step in range(STEPS):
        at = 20 * MS * step
        process.span(
            SpanCategory.COMMUNICATION, at + arrival_ms * MS, at + 18 * MS, name="group 0",
            number=step + 1, group=group,
        )  # fmt: skip
        process.step(at + 20 * MS)


@pytest.mark.parametrize(("arrivals_ms", "part"), [([4, 14], 1 / 2), ([4, 4, 14], 2 / 3)])
def test_work_that_all_ranks_do_is_dealt_out_anew(
    arrivals_ms: list[int], part: float, tmp_path: Path
) -> None:
    """Each of n ranks keeps its part: (n - 1) / n of the delay of 10 ms goes."""
    found = judged(tmp_path / "run", arrivals_ms, only_last_reads=False)
    assert found.location is not None
    assert found.location.function == "read"
    assert found.saving.expected == pytest.approx(part * 10 * MS)
    assert found.saving.most is not None
    assert found.saving.least < found.saving.expected < found.saving.most


def test_what_only_one_rank_does_goes_away(tmp_path: Path) -> None:
    found = judged(tmp_path / "run", [4, 14], only_last_reads=True)
    assert found.location is not None
    assert found.location.function == "read"
    assert found.saving.expected == pytest.approx(10 * MS)
    assert found.saving.least == pytest.approx(0.75 * 10 * MS)
