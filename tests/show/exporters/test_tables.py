"""The tables of a run: the rows and names of the `--json` answers, for hand-made runs."""

import json
import os
from pathlib import Path
from typing import Any

import polars
import pytest

from build import BOOT_NS, MS, RunBuilder
from hand_made_answers import MAIN
from stepscope.analyze.run import load
from stepscope.errors import InputError
from stepscope.model import FileRow
from stepscope.show.exporters import parquet
from stepscope.show.exporters.folder import write_folder
from stepscope.show.exporters.tables import TABLES, Asked, columns, export_tables
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

PHASES = ["python_ns", "files_ns", "gc_ns", "profiler_ns"]
WHO = ["role", "rank", "pid"]
COLUMNS = {
    "steps": [*WHO, "step", "start_ns", "duration_ns", "measured", "samples"],
    "lines": [
        "file", "function", "first_line", *WHO, "line", "hits", "ns", "ops_ns", "device_ns",
        "alloc_bytes", "estimated", "source", "likely_hits",
    ],
    "functions": [
        "file", "line", "function", *WHO, "ncalls", "primitive_calls", "tottime_ns", "cumtime_ns",
        "estimated",
    ],
    "callers": [
        "file", "line", "function", *WHO, "caller_file", "caller_line", "caller_function",
        "ncalls", "primitive_calls", "tottime_ns", "cumtime_ns",
    ],
    "regions": [
        "name", "depth", "parent", *WHO, "calls", "total_ns", "self_ns", "mean_ns", "per_step_ns",
        "share",
    ],
    "files": [
        "path", "opens", "writing", "steps", "total_ns", "estimated", "file", "line", "function",
        *WHO, "share", "importing",
    ],
    "memory": [*WHO, "first_bytes", "peak_bytes", "last_bytes", "growth_bytes_per_step"],
    "memory_points": [*WHO, "at_ns", "resident_bytes"],
    "processes": [
        *WHO, "parent_pid", "host", "argv", "wall_ns", "cpu_ns", "read_bytes", "written_bytes",
        "voluntary_switches", "involuntary_switches", "peak_bytes", "threads", "status",
        "overhead_share", "notes",
    ],
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A main process with twenty steps of 10 ms, and two workers."""
    builder = RunBuilder(tmp_path / "run")
    main = builder.process(pid=10, argv=["train.py", "--name", "a, b"])
    code = main.code("train", first_line=3)
    main.for_loop(main.loop(code, 4, 9), 0, [10 * MS] * 20)
    main.lines(code, 3, [(1, 0), (21, 5), (0, 0), (20, 7 * MS)])
    for turn in range(20):
        main.span(SpanCategory.REGION, turn * 10 * MS, turn * 10 * MS + MS, name="augment")
    main.span(SpanCategory.GC, 50 * MS, 52 * MS)
    data = main.name("open", path="data.npz", code=code, line=5)
    main.opened(data, 0, 3 * MS)
    main.counter(Memory, 0, resident_bytes=100)
    main.counter(Memory, 9 * MS, resident_bytes=300, peak_bytes=400)
    root = main.root()
    call = main.call(root, main.function("train", line=3), 1, 20 * MS)
    main.call(call, main.function("load", line=30), 20, 5 * MS)
    main.write()
    for pid in (11, 12):
        worker = builder.process(pid=pid, role="worker", parent_pid=10)
        worker.lines(worker.code("collate", first_line=40), 40, [(pid, pid)])
        worker.counter(Memory, MS, resident_bytes=pid)
        worker.write(20 * MS)
    return load(builder.path)


def tables_of(run: Run, process: int | None = None) -> dict[str, polars.DataFrame]:
    """As they are read back."""
    files = dict(export_tables(run, process, "parquet", parquet.encode))
    return {name: polars.read_parquet(files[f"{name}.parquet"]) for name in TABLES}


def rows(table: polars.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(columns).rows()


def test_columns_are_named_as_in_the_json(run: Run) -> None:
    tables = tables_of(run)
    assert [*tables] == [*COLUMNS]
    steps = tables.pop("steps").columns
    assert steps[: -len(PHASES)] == COLUMNS["steps"]
    assert sorted(steps[-len(PHASES) :]) == sorted(PHASES)
    assert {name: table.columns for name, table in tables.items()} == {
        name: columns for name, columns in COLUMNS.items() if name != "steps"
    }


def test_times_are_integers_of_nanoseconds_whether_known_or_not(run: Run) -> None:
    for table in tables_of(run).values():
        times = [name for name in table.columns if name.endswith(("_ns", "_bytes")) or name == "ns"]
        assert {table.schema[name] for name in times} <= {polars.Int64()}


def test_a_step_is_a_row_with_all_its_phases(run: Run) -> None:
    steps = tables_of(run)["steps"]
    assert rows(steps, "step", "start_ns", "duration_ns")[:2] == [
        (1, 0, 10 * MS),
        (2, 10 * MS, 10 * MS),
    ]
    assert len(steps) == 20
    assert steps.select(polars.sum_horizontal(PHASES)).to_series().to_list() == [10 * MS] * 20
    assert steps["gc_ns"].sum() == 2 * MS
    assert set(rows(steps, *WHO, "samples")) == {("main", None, 10, None)}
    assert steps["measured"].to_list() == sorted(steps["measured"].to_list())


def test_a_line_is_a_row_by_function_and_role(run: Run) -> None:
    assert rows(tables_of(run)["lines"], "function", "role", "pid", "line", "hits", "ns") == [
        ("train", "main", 10, 3, 1, 0),
        ("train", "main", 10, 4, 21, 5),
        ("train", "main", 10, 6, 20, 7 * MS),
        ("collate", "worker", None, 40, 23, 23),
    ]


def test_a_caller_is_a_row_with_the_calls_it_made(run: Run) -> None:
    names = ("function", "caller_function", "caller_line", "ncalls", "tottime_ns")
    assert rows(tables_of(run)["callers"], *names) == [("load", "train", 3, 20, 5 * MS)]


def test_where_a_file_was_opened_is_beside_it(run: Run) -> None:
    names = ("path", "opens", "total_ns", "file", "line", "function", "pid")
    assert rows(tables_of(run)["files"], *names) == [
        ("data.npz", 1, 3 * MS, "train.py", 5, "train", 10)
    ]


def test_memory_tells_the_workers_apart(run: Run) -> None:
    tables = tables_of(run)
    assert rows(tables["memory"], "role", "pid", "peak_bytes") == [
        ("main", 10, 400),
        ("worker", 11, 11),
        ("worker", 12, 12),
    ]
    assert rows(tables["memory_points"], "pid", "at_ns", "resident_bytes") == [
        (10, BOOT_NS, 100),
        (10, BOOT_NS + 4_500_000, 400),  # the peak, at some moment between two measurements
        (10, BOOT_NS + 9 * MS, 300),
        (11, BOOT_NS + MS, 11),
        (12, BOOT_NS + MS, 12),
    ]


def test_one_process_may_be_asked_for(run: Run) -> None:
    tables = tables_of(run, process=12)
    assert tables["processes"]["pid"].to_list() == [12]
    assert tables["lines"]["hits"].to_list() == [12]
    assert len(tables["steps"]) == 0
    with pytest.raises(InputError, match="has no process 13"):
        tables_of(run, process=13)


def test_a_phase_that_only_one_process_has_took_no_time_in_the_others(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for rank in (0, 1):
        process = builder.process(pid=20 + rank, rank=rank, role="rank")
        for turn in range(21):
            process.step(turn * 10 * MS, samples=32)
        if rank == 1:
            process.span(SpanCategory.INPUT, 100 * MS, 104 * MS)
        process.write()
    steps = tables_of(load(builder.path))["steps"]
    assert steps.group_by("rank").agg(polars.sum("input_ns")).sort("rank").rows() == [
        (0, 0),
        (1, 4 * MS),
    ]
    assert steps["samples"].drop_nulls().unique().to_list() == [32]


def test_a_run_without_a_process_has_all_tables_all_empty(tmp_path: Path) -> None:
    tables = tables_of(load(RunBuilder(tmp_path / "run").path))
    assert {name: table.columns for name, table in tables.items()} == COLUMNS
    assert {len(table) for table in tables.values()} == {0}
    assert polars.Null() not in {
        dtype for table in tables.values() for dtype in table.schema.values()
    }


def test_each_question_is_asked_once(run: Run) -> None:
    asked = Asked(run)
    assert asked["functions"] is asked["functions"]


def test_the_list_of_files_has_their_rows_and_what_the_answers_note(
    run: Run, tmp_path: Path
) -> None:
    write_folder(str(tmp_path / "out"), parquet.export(run))
    manifest = json.loads((tmp_path / "out" / "export.json").read_text())
    assert manifest["run"] == "run"
    assert [*manifest["rows"]] == [f"{name}.parquet" for name in TABLES]
    assert manifest["rows"]["steps.parquet"] == 20
    assert any("--calls" in note for note in manifest["notes"])  # the workers' calls are estimates
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *manifest["rows"],
        "export.json",
    }


def test_a_name_that_is_no_unicode_is_spelled_out() -> None:
    row = FileRow(
        path=os.fsdecode(b"caf\xe9.txt"), opens=1, writing=False, steps=None, total_ns=0,
        estimated=False, location=None, process=MAIN,
    )  # fmt: skip
    assert polars.DataFrame(columns(FileRow, [row], ("path",))).rows() == [(r"caf\udce9.txt",)]
