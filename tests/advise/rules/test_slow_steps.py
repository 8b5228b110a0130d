"""Which slow steps lose time, and which only wait for what has to be computed anyway."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from build import MS, START_NS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import FindingsAnswer
from stepscope.store.events import Memory
from stepscope.store.format import SYSTEM_FILE, SpanCategory


def judged(
    path: Path, category: SpanCategory, span_ms: int = 50, slow: Sequence[int] = range(19, 200, 20)
) -> FindingsAnswer:
    """200 steps of 10 ms, but every 20th takes 60: 50 of them, or so many, are of this category."""
    run = RunBuilder(path)
    process = run.process()
    turns = [(60 if step in slow else 10) * MS for step in range(200)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    at = 0
    for turn in turns:
        if turn > 10 * MS:
            process.span(category, at + 5 * MS, at + (5 + span_ms) * MS)
        at += turn
    process.write()
    return findings(load(run.path))


def test_garbage_collections_that_take_long_are_a_loss(tmp_path: Path) -> None:
    answer = judged(tmp_path / "run", SpanCategory.GC)
    assert [each.id for each in answer.findings] == ["slow-outlier-steps"]
    assert answer.findings[0].share == pytest.approx(0.2, abs=0.02)


def test_waiting_for_what_was_asked_for_before_is_none(tmp_path: Path) -> None:
    """JAX returns at once; a step that prints the loss waits for all the steps before it."""
    answer = judged(tmp_path / "run", SpanCategory.SYNC)
    assert answer.findings == []
    assert "waited for the device" in answer.outliers[0].why


def test_steps_that_mostly_wait_for_the_device_are_none_either(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", SpanCategory.SYNC, 35, [40, 41, 60, 90, 97, 180]).findings == []


def starts_workers(path: Path, *, anew: bool) -> str:
    """10 epochs of 20 steps of 10 ms. Each starts the loader's workers, for 50 ms more."""
    process = RunBuilder(path).process()
    process.step(0, begins=True)
    at = 0
    for step in range(200):
        about = {"loader": 1 + (step // 20 if anew else 0), "loader_workers": 2}
        if step % 20 == 0:
            process.span(SpanCategory.INPUT, at, at + 50 * MS, name="DataLoader.__iter__", **about)
            process.span(SpanCategory.STAGE, at, at + 50 * MS - 1, name="start workers")
            at += 50 * MS
        process.span(SpanCategory.INPUT, at, at + MS, name="batch", samples=8, **about)
        process.span(SpanCategory.FORWARD, at + MS, at + 10 * MS)
        at += 10 * MS
        process.step(at)
    process.write()
    found = [each for each in findings(load(path)).findings if each.id == "slow-outlier-steps"]
    return found[0].fix


def test_workers_are_kept_by_a_loader_that_is_kept(tmp_path: Path) -> None:
    assert starts_workers(tmp_path / "one", anew=False).startswith("Keep the loader's workers")
    assert starts_workers(tmp_path / "many", anew=True).startswith("Make the loader once")


def test_steps_that_do_more_by_design_say_so(tmp_path: Path) -> None:
    """Every 20th mines hard examples: it is no outlier, and nobody took its core."""
    process = RunBuilder(tmp_path / "run").process()
    turns = [(60 if step % 20 == 19 else 10) * MS for step in range(200)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    mined = process.node(process.function("mine", line=20), line=21)
    at = 0
    for turn in turns:
        if turn > 10 * MS:
            process.sample(mined, at + 5 * MS, 50 * MS, count=50)
        at += turn
    process.write()
    answer = findings(load(tmp_path / "run"))
    assert not [each for each in answer.findings if each.id == "slow-outlier-steps"]
    assert answer.outliers[0].why.startswith("every so many steps it does more than the others")


def test_one_long_collection_is_chance(tmp_path: Path) -> None:
    """A machine that stalls does so in collections, too; 43 % of the steps' time, all the same."""
    process = RunBuilder(tmp_path / "run").process()
    turns = [(1_500 if step == 90 else 10) * MS for step in range(200)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    process.span(SpanCategory.GC, 90 * 10 * MS + MS, 90 * 10 * MS + 1_490 * MS)
    process.write()
    answer = findings(load(tmp_path / "run"))
    assert answer.findings == []
    assert "garbage was collected" in answer.outliers[0].why


def late_batches(
    path: Path, *, usual_ms: int, ready: float = 0.0, others: float = 0.0
) -> FindingsAnswer:
    """200 steps of 10 ms that wait so long for their batch, but every 13th and 14th waits 40 ms
    more. So many threads are ready meanwhile, and other programs use so many of the two cores."""
    run = RunBuilder(path, machine={"host": "here", "cores": 2})
    process = run.process()
    process.step(0, begins=True)
    at = 0
    for step in range(200):
        waits = (usual_ms + (40 if step % 14 > 11 else 0)) * MS
        process.span(SpanCategory.INPUT, at, at + waits, name="batch", samples=8, loader=1)
        at += waits
        process.span(SpanCategory.FORWARD, at, at + (10 - usual_ms) * MS)
        at += (10 - usual_ms) * MS
        process.step(at)
    process.write()
    rows = [
        {"monotonic_ns": START_NS + at_ns, "cpu_ns": round(others * at_ns),
         "waited_ns": {"100": round(ready * at_ns)}}
        for at_ns in range(0, at + 1, 200 * MS)
    ]  # fmt: skip
    (path / SYSTEM_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return findings(load(path))


def test_where_steps_wait_anyway_late_batches_are_more_of_the_same(tmp_path: Path) -> None:
    (found,) = late_batches(tmp_path / "run", usual_ms=3).findings
    assert found.id == "input-bound"
    assert found.share == pytest.approx(3 / (10 + 40 / 7), abs=0.02)  # as in the breakdown
    assert "more are what slow steps waited beyond that" in " ".join(found.evidence)


def test_late_batches_alone_are_slow_steps(tmp_path: Path) -> None:
    found = [each.id for each in late_batches(tmp_path / "run", usual_ms=0).findings]
    assert found == ["slow-outlier-steps"]


@pytest.mark.parametrize(
    ("ready", "others", "is_machine"), [(1.5, 1.0, True), (1.5, 0.1, False), (0.1, 1.0, False)]
)
def test_batches_are_late_by_chance_where_other_programs_had_the_cores(
    ready: float, others: float, is_machine: bool, tmp_path: Path
) -> None:
    """The thread that waits for them is not ready meanwhile: those that load are."""
    answer = late_batches(tmp_path / "run", usual_ms=0, ready=ready, others=others)
    assert [each.id for each in answer.findings] == ([] if is_machine else ["slow-outlier-steps"])


def slow_starts(path: Path, *, slow: Sequence[int], every: int, lost_ms: int = 0) -> list[str]:
    """200 steps of 10 ms in epochs of so many; some take 50 ms more, while nothing is seen, for
    so long of that without a core."""
    process = RunBuilder(path).process()
    process.step(0, begins=True)
    at = delay_ns = 0
    for step in range(200):
        if step % every == 0:
            process.span(SpanCategory.INPUT, at, at + MS // 10, name="Loader.__iter__", loader=1)
        lasts = (60 if step in slow else 10) * MS
        process.counter(Memory, at, run_delay_ns=delay_ns)
        delay_ns += lost_ms * MS * (step in slow)
        process.span(SpanCategory.FORWARD, at + MS // 10, at + lasts)
        at += lasts
        process.step(at)
    process.counter(Memory, at, run_delay_ns=delay_ns)
    process.write()
    return [each.id for each in findings(load(path)).findings]


def test_slow_steps_begin_an_epoch_by_chance_where_epochs_are_short(tmp_path: Path) -> None:
    slow = [32, 60, 96, 97, 122, 133, 155, 171]  # three of them begin an epoch of 4 steps
    assert slow_starts(tmp_path / "short", slow=slow, every=4) == []
    assert slow_starts(tmp_path / "long", slow=[30, 60, 90, 150], every=30) == [
        "slow-outlier-steps"
    ]


def test_a_core_that_is_lost_where_an_epoch_begins_is_no_fault_of_the_epoch(
    tmp_path: Path,
) -> None:
    slow = [30, 60, 90, 150]
    assert slow_starts(tmp_path / "run", slow=slow, every=30, lost_ms=25) == []


def slow_steps_at_a_line(path: Path, *, looks: int) -> list[str]:
    """300 steps of 10 ms: 3 take 90, and were seen so often each at a line that has 3 in 10 looks
    at the others."""
    process = RunBuilder(path).process()
    slow = (37, 151, 246)
    turns = [(90 if step in slow else 10) * MS for step in range(300)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    function = process.function("train", line=20)
    lines = process.node(function, line=21), process.node(function, line=22)
    at = 0
    for step, turn in enumerate(turns):
        if step in slow:
            process.sample(lines[0], at, turn - MS, count=looks)
        else:
            process.sample(lines[0 if step % 10 < 3 else 1], at, turn - MS)
        at += turn
    process.write()
    return [each.id for each in findings(load(path)).findings]


def test_a_line_seen_once_in_each_slow_step_is_not_blamed_for_it(tmp_path: Path) -> None:
    """A busy machine lengthens any steps, and they are seen somewhere."""
    assert "slow-outlier-steps" not in slow_steps_at_a_line(tmp_path / "once", looks=1)
    assert "slow-outlier-steps" in slow_steps_at_a_line(tmp_path / "often", looks=5)


def test_what_takes_long_loses_its_core_as_often_as_the_rest(tmp_path: Path) -> None:
    """On a machine where every step has its core for half of the time, collections take 50 ms of
    some: 25 of those without a core are no reason to leave them out."""
    process = RunBuilder(tmp_path / "run").process()
    turns = [(60 if step % 20 == 19 else 10) * MS for step in range(200)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    at = 0
    for turn in turns:
        process.counter(Memory, at, run_delay_ns=at // 2)
        if turn > 10 * MS:
            process.span(SpanCategory.GC, at + 5 * MS, at + 55 * MS)
        at += turn
    process.counter(Memory, at, run_delay_ns=at // 2)
    process.write()
    answer = findings(load(tmp_path / "run"))
    assert "garbage was collected" in answer.outliers[0].why
    assert [each.id for each in answer.findings] == ["slow-outlier-steps"]
