"""Files, memory, regions, processes and tables, on runs built by hand."""

from pathlib import Path

import polars
import pytest

from build import MS, RunBuilder
from stepscope.analyze.answers.files import files
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.parquet_tables import write_tables
from stepscope.analyze.answers.processes import processes
from stepscope.analyze.answers.regions import regions
from stepscope.analyze.run import load, select
from stepscope.errors import InputError
from stepscope.model import Location
from stepscope.store.events import CpuTimes, Memory, Transfers
from stepscope.store.format import SpanCategory


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def test_a_file_costs_the_activations_that_opened_it_once_each(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 20)
    code = process.code("get", file=1, first_line=20)
    name = process.name("open", path="/data/x.npz", code=code, line=31)
    for turn in (2, 5, 6):
        at_ns = turn * 10 * MS
        process.opened(name, at_ns, at_ns + 4 * MS)
        process.opened(name, at_ns, at_ns + 4 * MS, at_ns=at_ns + MS)
    process.counter(Transfers, 100 * MS, read_bytes=1000, written_bytes=50)
    process.write()
    answer = files(load(run.path))
    row = answer.files[0]
    assert (row.path, row.opens, row.steps, row.total_ns) == ("/data/x.npz", 6, 3, 12 * MS)
    assert (row.estimated, row.writing) == (False, False)
    assert row.location == Location(file="train.py", line=31, function="get")
    assert (answer.read_bytes, answer.written_bytes) == (1000, 50)


def test_a_file_opened_by_a_module_costs_its_line(run: RunBuilder) -> None:
    process = run.process()
    code = process.code("<module>", kind="module")
    name = process.name("open", path="/data/x.npz", code=code, line=2)
    process.opened(name, 0, None, at_ns=MS)
    process.lines(code, 1, [(1, 0), (1, 3 * MS)])
    process.write(ended_ns=90 * MS)
    row = files(load(run.path)).files[0]
    assert (row.total_ns, row.estimated, row.steps) == (3 * MS, True, None)


def test_memory_that_grows_with_every_step_has_its_slope(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 40)
    for turn in range(40):
        jump = 10**9 if turn == 20 else 0  # one large batch is not a trend
        resident = 10**6 + turn * 4096 + jump
        at_ns = turn * 10 * MS + MS
        process.counter(Memory, at_ns, resident_bytes=resident, peak_bytes=10**6)
    process.write()
    answer = memory(load(run.path))
    row = answer.processes[0]
    assert row.growth_bytes_per_step == pytest.approx(4096)
    assert (row.first_bytes, row.last_bytes) == (10**6, 10**6 + 39 * 4096)
    assert row.peak_bytes == 10**6 + 20 * 4096 + 10**9
    assert (answer.machine_bytes, answer.limit_bytes) == (2**34, 2**33)


def test_many_points_are_thinned_out_without_losing_the_peak(run: RunBuilder) -> None:
    process = run.process()
    for index in range(5000):
        process.counter(Memory, index, resident_bytes=9_999 if index == 1234 else 100)
    process.write()
    row = memory(load(run.path)).processes[0]
    assert len(row.points) == 500
    assert max(point.resident_bytes for point in row.points) == 9_999
    assert row.growth_bytes_per_step is None


def test_regions_nest_by_time_and_thread(run: RunBuilder) -> None:
    process = run.process()
    other = process.thread()
    process.span(SpanCategory.REGION, 0, 10 * MS, name="epoch")
    for start in (1, 5):
        process.span(SpanCategory.REGION, start * MS, (start + 3) * MS, name="augment")
        process.span(SpanCategory.REGION, start * MS, (start + 1) * MS, name="flip")
    process.span(SpanCategory.REGION, 2 * MS, 4 * MS, name="augment", thread=other)
    process.span(SpanCategory.INPUT, 0, 9 * MS, name="no region")
    process.write(ended_ns=20 * MS)
    rows = regions(load(run.path)).regions
    assert [(row.name, row.depth, row.parent, row.calls) for row in rows] == [
        ("epoch", 0, None, 1),
        ("augment", 1, "epoch", 2),
        ("flip", 2, "augment", 2),
        ("augment", 0, None, 1),
    ]
    assert [(row.total_ns // MS, row.self_ns // MS) for row in rows] == [
        (10, 4), (6, 4), (2, 2), (2, 2),
    ]  # fmt: skip
    assert rows[0].share == pytest.approx(0.5)
    assert rows[0].per_step_ns is None


def test_regions_have_their_share_of_the_measured_steps(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 100 * MS, [10 * MS] * 30)
    process.span(SpanCategory.REGION, 0, 90 * MS, name="augment")
    for turn in range(30):
        at_ns = (100 + turn * 10) * MS
        process.span(SpanCategory.REGION, at_ns, at_ns + 4 * MS, name="augment")
    process.write()
    row = regions(load(run.path)).regions[0]
    assert (row.calls, row.per_step_ns) == (31, 4 * MS)
    assert row.share == pytest.approx(0.4)


def test_a_region_that_was_open_at_the_end_lasts_until_then(run: RunBuilder) -> None:
    process = run.process()
    process.span(SpanCategory.REGION, 2 * MS, None, name="all")
    process.write(ended_ns=20 * MS)
    assert regions(load(run.path)).regions[0].total_ns == 18 * MS


def test_processes_have_their_counters_and_how_they_ended(run: RunBuilder) -> None:
    main = run.process(pid=50)
    main.counter(
        CpuTimes, 30 * MS, process_ns=25 * MS, voluntary_switches=3, involuntary_switches=9
    )
    main.counter(Transfers, 30 * MS, read_bytes=10, written_bytes=20)
    main.counter(Memory, 30 * MS, resident_bytes=100, peak_bytes=300)
    main.write(ended_ns=40 * MS)
    run.process(pid=51, role="worker", parent_pid=50, status="running").write(ended_ns=10 * MS)
    run.supervisor(ended_ns=45 * MS)
    rows = {row.process.pid: row for row in processes(load(run.path)).processes}
    first = rows[50]
    assert (first.wall_ns, first.cpu_ns, first.peak_bytes) == (65 * MS, 25 * MS, 300)
    assert (first.voluntary_switches, first.involuntary_switches) == (3, 9)
    assert (first.read_bytes, first.written_bytes, first.threads) == (10, 20, 1)
    assert (first.status, rows[51].status, rows[51].parent_pid) == ("ended", "killed", 50)
    assert rows[51].cpu_ns is None


def test_a_process_that_is_not_there_is_an_input_error(run: RunBuilder) -> None:
    run.process(pid=50).write()
    with pytest.raises(InputError, match="50"):
        select(load(run.path), process=51)


def test_tables_hold_every_step_and_line(
    run: RunBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = run.process()
    code = process.code()
    process.for_loop(process.loop(code, 2, 9), 0, [10 * MS] * 20)
    process.lines(code, 1, [(1, 0), (21, 5)])
    process.write()
    folder = write_tables(load(run.path))
    assert folder == run.path / "tables"
    steps = polars.read_parquet(folder / "steps.parquet")
    assert steps["duration_ns"].sum() == 200 * MS
    assert (steps["python_ns"] + steps["files_ns"]).sum() == 200 * MS
    assert polars.read_parquet(folder / "lines.parquet")["hits"].to_list() == [1, 21]
    assert sorted(path.name for path in folder.iterdir()) == ["lines.parquet", "steps.parquet"]

    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("in the way")  # has the same effect as a folder that cannot be written
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert write_tables(load(run.path)).is_relative_to(tmp_path / "cache")


def test_memory_that_fills_up_and_levels_off_has_no_slope(run: RunBuilder) -> None:
    """A framework that warms up: 20 MB in the first half of the steps, next to nothing after."""
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [5 * MS] * 200)
    for turn in range(200):
        resident = 10**8 + 200_000 * min(turn, 120) + 2_000 * turn
        process.counter(Memory, turn * 5 * MS + 1000, resident_bytes=resident, peak_bytes=resident)
    process.write()
    (row,) = memory(load(run.path)).processes
    assert row.growth_bytes_per_step == 0.0
