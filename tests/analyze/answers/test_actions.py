"""Actions as a tree that adds up, on runs built by hand."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.analyze.answers.actions import actions
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

ACTION = SpanCategory.ACTION


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def test_an_action_is_its_own_time_and_that_of_those_inside(run: RunBuilder) -> None:
    process = run.process()
    for turn in range(2):
        at = turn * 50 * MS
        process.span(ACTION, at, at + 40 * MS, name="batch")
        process.span(ACTION, at + 2 * MS, at + 12 * MS, name="forward")
        process.span(ACTION, at + 12 * MS, at + 30 * MS, name="backward")
        process.span(ACTION, at + 15 * MS, at + 20 * MS, name="hook")
        process.span(ACTION, at + 31 * MS, at + 32 * MS, name="hook")
    process.span(SpanCategory.FORWARD, 0, 9 * MS, name="no action")
    process.span(ACTION, 95 * MS, 96 * MS, name="hook")
    process.write(ended_ns=200 * MS)
    answer = actions(load(run.path))
    assert [(row.depth, row.name, row.calls) for row in answer.actions] == [
        (0, "batch", 2),
        (1, "backward", 2),
        (2, "hook", 2),
        (1, "forward", 2),
        (1, "hook", 2),
        (0, "hook", 1),
    ]
    assert [row.total_ns // MS for row in answer.actions] == [80, 36, 10, 20, 2, 1]
    assert [row.self_ns // MS for row in answer.actions] == [22, 26, 10, 20, 2, 1]
    assert answer.actions[0].mean_ns == 40 * MS
    assert answer.total_ns == 200 * MS
    assert answer.actions[0].share == 0.4


def test_one_that_was_open_when_the_process_died_lasts_until_then(run: RunBuilder) -> None:
    process = run.process()
    process.span(ACTION, 2 * MS, None, name="epoch")
    process.span(ACTION, 4 * MS, 7 * MS, name="batch")
    process.write(ended_ns=20 * MS)
    rows = actions(load(run.path)).actions
    assert [(row.name, row.total_ns, row.self_ns) for row in rows] == [
        ("epoch", 18 * MS, 15 * MS),
        ("batch", 3 * MS, 3 * MS),
    ]


def test_threads_nest_by_themselves(run: RunBuilder) -> None:
    process = run.process()
    process.span(ACTION, 0, 10 * MS, name="batch")
    process.span(ACTION, 2 * MS, 4 * MS, name="load", thread=process.thread())
    process.write(ended_ns=20 * MS)
    rows = actions(load(run.path)).actions
    assert [(row.name, row.depth, row.self_ns // MS) for row in rows] == [
        ("batch", 0, 10),
        ("load", 0, 2),
    ]


def test_a_run_without_actions_has_none(run: RunBuilder) -> None:
    run.process().write(ended_ns=10 * MS)
    assert actions(load(run.path)).actions == []
