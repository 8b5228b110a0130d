"""What waiting for a tf.data pipeline costs: not what taking a batch that is ready takes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from build import MS, START_NS, WALL_OFFSET_NS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load
from stepscope.store.events import Windows
from stepscope.store.format import SpanCategory
from xplane_writer import PlaneWriter, write

STEPS, STEP = 60, 20 * MS
FIRST, SEEN = 10, 20  # the steps of the window
TAKING_US = 700


def judged(path: Path, late_us: Sequence[int]) -> list[Candidate]:
    """Steps of 20 ms in a compiled function, which fetches its batch: a thread of the pipeline
    works on it for so long, and to take it takes 0.7 ms. Afterwards the next one is begun."""
    run = RunBuilder(path)
    process = run.process()
    for number in range(STEPS):
        at = number * STEP
        process.span(SpanCategory.COMPUTE, at + MS, at + 19 * MS)
        process.step(at + STEP)
    name = process.name("name", name="ops-1.xplane.pb")
    seen = process.ticks(FIRST * STEP), process.ticks((FIRST + SEEN) * STEP)
    process.event(Windows, name, *seen)
    process.write()
    host = PlaneWriter("/host:CPU")
    line, ahead = host.line(5, "tf_data_iterator_get_next/5"), host.line(6, "tf_data_prefetch/6")
    for number, late in enumerate(late_us):
        at_us = (FIRST + number) * STEP // 1000 + 2000
        line.event("IteratorGetNextOp::DoCompute", at_us, late + TAKING_US)
        line.event("Iterator::Root", at_us + 300, late + 300)
        line.event("Iterator::Root::Prefetch", at_us + 310, late + 280)
        for begins_us, lasts_us in ((at_us, late), (at_us + late + TAKING_US, 2000)):
            ahead.event("PrefetchProduce", begins_us, lasts_us)
            ahead.event("Iterator::Root::Prefetch::Map", begins_us, lasts_us)
    write(process.folder / "ops-1.xplane.pb", host, start_ns=START_NS + WALL_OFFSET_NS)
    loaded = load(run.path)
    assert loaded.main is not None
    return judge(Case(loaded, loaded.main))


def test_batches_that_are_ready_are_not_waited_for(tmp_path: Path) -> None:
    """Taking them is 3.5 % of the step, and no faster pipeline makes that less."""
    assert judged(tmp_path / "run", [0] * SEEN) == []


def test_that_one_batch_of_twenty_came_late_may_be_chance(tmp_path: Path) -> None:
    """With it, the mean wait is 8 % of the step."""
    assert judged(tmp_path / "run", [0] * (SEEN - 1) + [16_000]) == []


@pytest.mark.parametrize("late_us", [[3000] * SEEN, [0, 0, 9000, 0] * (SEEN // 4)])
def test_a_pipeline_that_is_slower_than_the_steps_is_waited_for(
    late_us: list[int], tmp_path: Path
) -> None:
    """In each step, or in every fourth, as it makes several batches at a time."""
    (found,) = judged(tmp_path / "run", late_us)
    assert found.id == "input-bound"
    avoidable_ms = sum(late_us) / SEEN / 1000
    assert found.share == pytest.approx((avoidable_ms + TAKING_US / 1000) / 20, rel=0.01)
    assert found.saving.expected <= 1.01 * avoidable_ms * MS
