"""A mean is not made by one step: the breakdown shows the typical one, and what slow ones cost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.answers.headline import most_of_each_step
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.compare.compare import compare
from stepscope.model import StepsAnswer
from stepscope.model.findings import FindingsAnswer
from stepscope.store.format import SpanCategory, about_loader
from stepscope.store.reader import Run

STEPS = 60
BATCH, START = "DataLoader", "DataLoader.__iter__"
Extra = Callable[[ProcessBuilder, int, int], int]  # (process, step, now in ns) to ns it takes


def trained(path: Path, extra: Extra, *, workers: int = 0) -> Run:
    """Each step waits 12 ms for its batch and trains for 8; `extra` comes before that."""
    process = RunBuilder(path).process()
    loop = process.loop(process.code(), 2, 9)
    main, now = process.function("main"), 0
    nodes = {name: process.node(main, line=line) for name, line in {"in": 3, "on": 5}.items()}
    turns = []
    about = about_loader(1, workers)
    for step in range(STEPS):
        begin = now
        now += extra(process, step, now)
        process.span(SpanCategory.INPUT, now, now + 12 * MS, name=BATCH, samples=8, flags=about)
        process.sample(nodes["in"], now, 12 * MS, count=6)
        process.span(SpanCategory.FORWARD, now + 12 * MS, now + 15 * MS, name="Net", samples=8)
        process.span(SpanCategory.BACKWARD, now + 15 * MS, now + 19 * MS)
        process.span(SpanCategory.OPTIMIZER, now + 19 * MS, now + 20 * MS, name="SGD", number=8)
        process.sample(nodes["on"], now + 12 * MS, 8 * MS, count=4)
        now += 20 * MS
        turns.append(now - begin)
    process.for_loop(loop, 0, turns)
    process.write()
    return load(path)


def busy(process: ProcessBuilder, now: int, ms: int, function: str = "on_epoch_end") -> int:
    """The script's own Python, as the sampler sees it."""
    outer = process.node(process.function("main"), line=7)
    process.sample(
        process.node(process.function(function, line=20), outer, 21), now, ms * MS, count=ms
    )
    return ms * MS


def epoch(ms: int, *at: int) -> Extra:
    """In these steps a loader starts over; then the script's own code runs."""

    def extra(process: ProcessBuilder, step: int, now: int) -> int:
        if step not in at:
            return 0
        process.span(SpanCategory.INPUT, now, now + MS, name=START, flags=about_loader(1, 0))
        return MS + busy(process, now + MS, ms)

    return extra


def spans(category: SpanCategory, ms: int, *at: int) -> Extra:
    def extra(process: ProcessBuilder, step: int, now: int) -> int:
        if step not in at:
            return 0
        process.span(category, now, now + ms * MS, name=category.name)
        return ms * MS

    return extra


def nothing(_process: ProcessBuilder, _step: int, _now: int) -> int:
    return 0


def milliseconds(answer: StepsAnswer) -> dict[str, float]:
    found = {each.category: each.ms for each in answer.breakdown or []}
    assert answer.step_ms is not None
    assert sum(found.values()) == pytest.approx(answer.step_ms.mean)
    return found


def ids(answer: FindingsAnswer) -> list[str]:
    return [each.id for each in answer.findings]


def test_one_epoch_does_not_hide_what_every_step_waits_for(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", epoch(1500, 40))
    answer = steps(run)
    found = milliseconds(answer)
    assert answer.measured is not None
    assert found["input"] == pytest.approx(12, abs=0.1)
    assert found["python"] < 0.5
    assert found["outliers"] == pytest.approx(1501 / answer.measured, rel=0.01)
    assert answer.bound == "input"
    assert most_of_each_step(answer) == "Most of step time goes to waiting for input"


def test_the_slow_step_is_a_finding_of_its_own(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", epoch(1500, 40))
    answer, judged = steps(run), findings(run)
    assert sorted(ids(judged)) == ["input-bound", "slow-outlier-steps"]
    slow = next(each for each in judged.findings if each.id == "slow-outlier-steps")
    assert slow.title.startswith("1 of ")
    assert slow.share == pytest.approx(
        next(each.share for each in answer.breakdown or [] if each.category == "outliers"), rel=0.02
    )
    assert slow.location is not None
    assert slow.location.function == "on_epoch_end"
    assert any("an epoch began" in each for each in slow.evidence)
    assert "of step time goes to 1 slow step" in judged.verdict
    waits = next(each for each in judged.findings if each.id == "input-bound")
    mean = answer.step_ms.mean if answer.step_ms else 0
    assert waits.share == pytest.approx(12 / mean, rel=0.05)
    assert 1.5 < slow.speedup.expected <= 1.01 / (1 - slow.share)  # of the mean step as it is


def test_a_slow_step_that_costs_little_is_none(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", epoch(60, 40))
    assert "slow-outlier-steps" not in ids(findings(run))


def test_what_is_done_every_tenth_step_is_part_of_a_usual_one(tmp_path: Path) -> None:
    every = [step for step in range(STEPS) if step % 10 == 5]

    def extra(process: ProcessBuilder, step: int, now: int) -> int:
        return busy(process, now, 200, "measure") if step in every else 0

    run = trained(tmp_path / "run", extra)
    assert "outliers" not in milliseconds(steps(run))
    judged = findings(run)
    assert ids(judged)[0] == "host-code"
    assert judged.findings[0].location is not None
    assert judged.findings[0].location.function == "measure"


@pytest.mark.parametrize("category", [SpanCategory.EVALUATION, SpanCategory.CHECKPOINT])
def test_what_has_a_finding_of_its_own_keeps_its_name(
    category: SpanCategory, tmp_path: Path
) -> None:
    run = trained(tmp_path / "run", spans(category, 600, 20, 40, 50))
    answer, judged = steps(run), findings(run)
    found = milliseconds(answer)
    name = category.name.lower()
    assert "outliers" not in found
    assert found[name] == pytest.approx(1800 / (answer.measured or 1), rel=0.01)
    stall = next(each for each in judged.findings if each.id == f"{name}-stall")
    mean = answer.step_ms.mean if answer.step_ms else 0
    assert stall.share == pytest.approx(found[name] / mean, rel=0.02)
    assert "slow-outlier-steps" not in ids(judged)


def test_a_loader_hands_out_as_many_batches_as_it_has_workers(tmp_path: Path) -> None:
    """Every eighth batch comes late, and seven with it."""
    late = [step for step in range(STEPS) if step % 8 == 3]
    run = trained(tmp_path / "run", spans(SpanCategory.INPUT, 200, *late), workers=8)
    found = milliseconds(steps(run))
    assert "outliers" not in found
    assert found["input"] > 30


def test_a_comparison_still_sums_to_the_change(tmp_path: Path) -> None:
    before = trained(tmp_path / "before", epoch(1500, 40))
    after = trained(tmp_path / "after", nothing)
    rows = [each for each in compare(before, after).changes if each.what == "phase"]
    means = [each.step_ms.mean * 1e6 for each in (steps(before), steps(after)) if each.step_ms]
    assert sum(row.after_ns - row.before_ns for row in rows) == pytest.approx(means[1] - means[0])
    assert max(rows, key=lambda row: row.before_ns - row.after_ns).name == "outliers"


def test_other_schemes_and_single_steps_have_all_of_the_time(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", epoch(1500, 40))
    answer = steps(run, each=True)
    assert isinstance(answer.each, list)
    slow = max(answer.each, key=lambda step: step.duration_ns)
    assert slow.phases["python"] > 1400 * MS  # what happened in it, and not that it is slow
    assert "outliers" not in slow.phases
    milliseconds(steps(run, scheme="xprof"))
