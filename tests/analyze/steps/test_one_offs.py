"""Compilations that happen once are told as such, and are no part of the steps."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

EPOCH = 20


def trained(
    path: Path, compiles: dict[int, int], *, evaluates: int | None = None, count: int = 100
) -> Run:
    """Steps of 10 ms and batches of 32, the last of each epoch 8; some also compile for ms."""
    builder = RunBuilder(path)
    process = builder.process()
    at_ns = 0
    process.step(at_ns, begins=True)
    for number in range(count):
        lasted_ns = compiles.get(number, 0) * MS
        if number == evaluates:
            process.span(SpanCategory.EVALUATION, at_ns, at_ns + lasted_ns + MS)
        if lasted_ns:
            process.span(SpanCategory.COMPILE, at_ns, at_ns + lasted_ns, name="train")
        at_ns += lasted_ns + 10 * MS
        process.step(at_ns, 8 if number % EPOCH == EPOCH - 1 else 32)
    process.write()
    return load(path)


def test_the_last_batch_and_the_first_evaluation_are_compiled_once(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", {0: 2_000, 19: 700, 20: 500}, evaluates=20)
    answer = steps(run)
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(10)
    assert "compile" not in {share.category for share in answer.breakdown or [] if share.ms}
    (note,) = answer.notes
    assert note == (
        "Compiled twice after the warm-up, 1.20 s in total: once for a smaller batch (step 20), "
        "once for an evaluation (before step 21). These steps are not measured."
    )
    assert note in summary(run).notes
    assert [each.id for each in findings(run).findings] == []


def test_compiling_again_and_again_is_what_the_steps_are_like(tmp_path: Path) -> None:
    compiles = dict.fromkeys(range(0, 100, 9), 20)
    run = trained(tmp_path / "run", compiles)
    answer = steps(run)
    assert answer.notes == []
    assert answer.step_ms is not None
    assert answer.step_ms.mean > 11
    assert [each.id for each in findings(run).findings] == ["recompilation"]


def test_many_first_shapes_are_no_one_offs(tmp_path: Path) -> None:
    """Ten steps compile in the first half, and none in the second: less than a tenth."""
    run = trained(tmp_path / "run", dict.fromkeys(range(10, 50, 4), 900), count=200)
    assert steps(run).notes == []
    (found,) = findings(run).findings
    assert found.id == "recompilation"
    assert "in a longer training the share is smaller" in " ".join(found.evidence)
