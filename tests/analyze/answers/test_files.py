"""What a file costs: no moment counts for two of them, and imports have their own time."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.files import files
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import FileRow
from stepscope.store.format import SpanCategory

IMPORTING = "import heavy\n\ndata = load()\n"


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def rows(process: ProcessBuilder) -> dict[str, FileRow]:
    process.write(ended_ns=200 * MS)
    return {row.path: row for row in files(load(process.run.path)).files}


def opener(process: ProcessBuilder, path: str, line: int = 31) -> int:
    code = process.code("get", file=1, first_line=20)
    return process.name("open", path=path, code=code, line=line)


def test_files_of_one_function_divide_its_time(run: RunBuilder) -> None:
    process = run.process()
    for number, path in enumerate(("/data/a", "/data/b", "/data/c")):
        process.opened(opener(process, path), 0, 40 * MS, at_ns=10 * (number + 1) * MS)
    found = rows(process)
    assert [found[each].total_ns for each in ("/data/a", "/data/b", "/data/c")] == [10 * MS] * 3


def test_a_file_opened_by_an_inner_function_has_its_time_alone(run: RunBuilder) -> None:
    process = run.process()
    process.opened(opener(process, "/data/index"), 0, 40 * MS)
    process.opened(opener(process, "/data/part"), 10 * MS, 25 * MS)
    found = rows(process)
    assert found["/data/part"].total_ns == 15 * MS
    assert found["/data/index"].total_ns == 25 * MS


def test_files_of_one_line_divide_its_mean(run: RunBuilder) -> None:
    process = run.process()
    code = process.code("<module>", kind="module")
    process.lines(code, 1, [(1, 0), (1, 30 * MS)])
    for number in range(3):
        name = process.name("open", path=f"/data/{number}", code=code, line=2)
        process.opened(name, 0, None, at_ns=(10 + 5 * number) * MS)
    found = rows(process)
    assert [found[f"/data/{each}"].total_ns for each in range(3)] == [5 * MS, 5 * MS, 20 * MS]


def test_an_import_inside_the_function_is_not_the_cost_of_the_file(run: RunBuilder) -> None:
    process = run.process()
    process.opened(opener(process, "/data/x.parquet"), 0, 50 * MS)
    process.span(SpanCategory.IMPORT, 10 * MS, 40 * MS, name="pandas")
    assert rows(process)["/data/x.parquet"].total_ns == 20 * MS


def test_what_imports_open_is_one_row_without_a_time_of_its_own(run: RunBuilder) -> None:
    process = run.process()
    file = process.file("/w/train.py", IMPORTING)
    code = process.code("<module>", kind="module", file=file)
    process.lines(code, 1, [(1, 90 * MS), (0, 0), (1, 5 * MS)])
    process.span(SpanCategory.IMPORT, 0, 90 * MS, name="heavy")
    for number in range(8):
        name = process.name("open", path=f"/env/heavy/data{number}.json", code=code, line=1)
        process.opened(name, 0, None, at_ns=(number + 1) * MS)
    [(path, row)] = rows(process).items()
    assert (row.importing, row.opens, row.total_ns, row.location) == (True, 8, 0, None)
    assert "import" in path


@pytest.mark.parametrize(
    "path",
    ["/env/x-1.0.dist-info/entry_points.txt", "/usr/lib/python311.zip", "/w/__pycache__/a.pyc.140"],
)
def test_what_packages_say_about_themselves_is_opened_to_import(path: str, run: RunBuilder) -> None:
    """Also after the imports, by a library that asks for its plug-ins."""
    process = run.process()
    process.opened(opener(process, path), 0, 90 * MS)
    [row] = rows(process).values()
    assert (row.importing, row.total_ns) == (True, 0)


def test_a_module_of_the_script_that_reads_while_it_is_imported_reads_data(run: RunBuilder) -> None:
    process = run.process()
    process.span(SpanCategory.IMPORT, 0, 90 * MS, name="own_data")
    file = process.file("/w/own_data.py", "data = load()\n")
    code = process.code("<module>", kind="module", file=file)
    process.lines(code, 1, [(1, 60 * MS)])
    name = process.name("open", path="/data/x.npz", code=code, line=1)
    process.opened(name, 20 * MS, 85 * MS, at_ns=21 * MS)
    row = rows(process)["/data/x.npz"]
    assert (row.importing, row.total_ns) == (False, 60 * MS)


def test_the_shares_of_a_process_never_sum_beyond_it(run: RunBuilder) -> None:
    """With two threads that read all the time."""
    process = run.process()
    threads = 1, process.thread()
    for number in range(6):
        name = opener(process, f"/data/{number}")
        process.opened(name, 0, 200 * MS, at_ns=30 * number * MS, thread=threads[number % 2])
    found = rows(process)
    total = sum(row.share for row in found.values())
    assert 0.5 < total <= 1.0


def test_what_our_own_operator_window_opens_is_none_of_the_scripts_files(run: RunBuilder) -> None:
    process = run.process()
    process.span(SpanCategory.PROFILER, 10 * MS, 40 * MS, name="operator window: end")
    process.opened(opener(process, "/run/ops-1.xplane.pb"), 0, 50 * MS, at_ns=20 * MS)
    assert not rows(process)


def test_of_a_line_around_the_steps_a_file_has_the_time_to_the_next_step(run: RunBuilder) -> None:
    """`fit(...)` opens a file once, and then trains for long."""
    process = run.process()
    code = process.code("main", first_line=1)
    process.for_loop(process.loop(process.code("fit"), 2, 9), 30 * MS, [10 * MS] * 12)
    process.lines(code, 1, [(1, 0), (1, 150 * MS)])
    name = process.name("open", path="/data/x.npz", code=code, line=2)
    process.opened(name, 0, 190 * MS, at_ns=20 * MS)
    assert rows(process)["/data/x.npz"].total_ns == 10 * MS


def test_metadata_read_in_every_step_is_not_reading_files(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 20)
    name = opener(process, "/env/x-1.0.dist-info/entry_points.txt")
    for turn in range(20):
        process.opened(name, turn * 10 * MS, turn * 10 * MS + 4 * MS)
    process.write()
    shares = {each.category: each.share for each in steps(load(run.path)).breakdown or []}
    assert shares["files"] == 0.0
