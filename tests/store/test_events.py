"""A run built by hand has in each named column what the test gave it."""

from pathlib import Path

import pytest

from build import RunBuilder
from columns import COLUMNS
from stepscope.store.events import Events, Opens, Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import open_run

# A column of a span that has it only in some categories.
CATEGORY_OF = {
    "samples": SpanCategory.INPUT,
    "number": SpanCategory.OPTIMIZER,
    "worker_pid": SpanCategory.STAGE,
    "generation": SpanCategory.GC,
    "freed_objects": SpanCategory.GC,
    "flags": SpanCategory.FORWARD,
    "without_core_ns": SpanCategory.LOGGING,
    "group": SpanCategory.COMMUNICATION,
    "updates": SpanCategory.COMPUTE,
    "loader": SpanCategory.STAGE,
    "loader_workers": SpanCategory.INPUT,
}
CASES = [(table, column) for table, columns in COLUMNS.items() for column in columns]


def read_back(folder: Path, table: type[Events], columns: dict[str, int]) -> Events:
    run = RunBuilder(folder / "run")
    process = run.process()
    process.event(table, 0, process.ticks(5), process.ticks(6), **columns)
    process.write()
    opened = open_run(run.path).processes[0]
    return table(opened._of_kind(table.kind), opened.clock, opened.end_ns)


@pytest.mark.parametrize(("table", "column"), CASES)
def test_a_column_comes_back_as_it_was_given(
    table: type[Events], column: str, tmp_path: Path
) -> None:
    given = {column: 1}
    if table is Spans and column in CATEGORY_OF:
        given["category"] = CATEGORY_OF[column]
    if (table, column) == (Opens, "opened_at_ns"):
        given[column] = RunBuilder(tmp_path / "other").process().ticks(1)
        expected = given[column]
    else:
        expected = 1
    assert getattr(read_back(tmp_path, table, given), column).tolist() == [expected]


def test_columns_that_share_a_field_keep_apart(tmp_path: Path) -> None:
    call = {"category": SpanCategory.COMPUTE, "number": 3, "samples": 64, "updates": 1}
    spans = read_back(tmp_path, Spans, call)
    assert isinstance(spans, Spans)
    assert [spans.number[0], spans.samples[0], spans.updates[0]] == [3, 64, True]
    stage = {"category": SpanCategory.STAGE, "worker_pid": 77, "loader": 2, "loader_workers": 4}
    spans = read_back(tmp_path, Spans, stage)
    assert isinstance(spans, Spans)
    assert [spans.worker_pid[0], spans.loader[0], spans.loader_workers[0]] == [77, 2, 4]
