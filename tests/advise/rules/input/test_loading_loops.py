"""Loops over elements that load a batch: what is left of the step without them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.less_loading import LessLoading
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

STEPS, WORKER = 40, 101
SOURCE = """def collate(rows):
    out = zeros(rows)
    for number, row in enumerate(rows):
        out[number] = row * 2
    return out
"""


def lines(process: ProcessBuilder, loop_ms: float) -> None:
    """2,000 turns a batch, in the loader's own code."""
    file = process.file(text=SOURCE)
    code = process.code("collate", file=file)
    per_line = round(loop_ms * MS / 2) * STEPS
    process.lines(
        code, 1, [(0, 0), (STEPS, 1000), (2000 * STEPS, per_line), (2000 * STEPS, per_line)]
    )
    fetch = process.function("fetch", file="/x/torch/utils/data/_utils/fetch.py")
    node = process.node(process.function("collate"), process.node(fetch), line=4)
    for step in range(STEPS):
        process.sample(node, step * 10 * MS, round(loop_ms * MS))


def waits(path: Path, *, wait_ms: float, loop_ms: float, workers: int = 0) -> list[Candidate]:
    """Steps of 10 ms that wait for their batch."""
    run = RunBuilder(path, machine={"host": "here", "cores": 2})
    process = run.process()
    loader = {"loader": 1, "loader_workers": workers}
    if workers:
        worker = run.process(pid=WORKER, role="worker", parent_pid=100)
        lines(worker, loop_ms)
        for step in range(STEPS):
            at = step * 10 * MS
            worker.span(SpanCategory.STAGE, at, at + 10 * MS - 1, name="fetch")
        worker.write()
        process.span(SpanCategory.STAGE, 0, 1, name="worker", worker_pid=WORKER, **loader)
    else:
        lines(process, loop_ms)
    process.step(0, begins=True)
    for step in range(STEPS):
        at, there = step * 10 * MS, step * 10 * MS + round(wait_ms * MS)
        process.span(SpanCategory.INPUT, at, there, name="batch", samples=8, **loader)
        if not workers:
            process.span(SpanCategory.STAGE, at + 1, there - 1, name="fetch")
        process.span(SpanCategory.FORWARD, there, at + 10 * MS)
        process.step(at + 10 * MS)
    process.write()
    opened = load(run.path)
    assert opened.main is not None
    return judge(Case(opened, opened.main))


def test_a_loop_in_collate_leaves_the_step_without_it(tmp_path: Path) -> None:
    """8 of 10 ms are spent in a loop of the loader's: 2.3 ms are left, and not half of the wait."""
    (found,) = waits(tmp_path / "run", wait_ms=8, loop_ms=8)
    assert 10 - found.saving.expected / MS == pytest.approx(2.25, abs=0.1)
    assert found.saving.least > 6.5 * MS
    assert "one by one, 2,000 turns a batch" in found.fix


def test_in_a_worker_it_leaves_what_the_step_still_waits_for(tmp_path: Path) -> None:
    """The worker needs 10 ms for a batch, the loop is 9 of them: the step itself takes 4 then."""
    (found,) = waits(tmp_path / "run", wait_ms=6, loop_ms=9, workers=1)
    assert 10 - found.saving.expected / MS == pytest.approx(4.0, abs=0.8)
    assert "one by one" in found.fix


def test_of_a_reader_behind_a_pipeline_the_shares_are_known_and_not_the_time() -> None:
    """Looks saw 0.1 ms of a batch, its lines 0.2; the step waits for 6."""
    loop: Any = SimpleNamespace(ns=0.2 * MS)
    saved = Saving.part_of(0.2 * MS, expected=0.9, least=0.5)
    found = LessLoading(0.1 * MS, saved, loop).in_reader(6 * MS)
    assert (found.expected, found.least) == pytest.approx((5.4 * MS, 3 * MS))
