"""Lines: summed by role, hottest function first, with their source."""

from pathlib import Path

import pytest

from build import CWD, MS, RunBuilder
from stepscope.analyze.code.lines import lines
from stepscope.analyze.run import load
from stepscope.store.format import HITS_STAMPED, HITS_THINNED

TEXT = "def train():\n    a = 1\n\n    return a\n"


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def test_lines_that_were_hit_come_with_source_and_time(run: RunBuilder) -> None:
    process = run.process(ticks_per_ns=2)
    code = process.code(file=process.file(text=TEXT))
    process.lines(code, 1, [(0, 0), (7 | HITS_STAMPED, 3 * MS), (0, 0), (7, MS)], calls=7)
    process.write(ended_ns=10 * MS)
    function = lines(load(run.path)).functions[0]
    assert (function.file, function.function, function.first_line) == ("train.py", "train", 1)
    assert (function.total_ns, function.calls) == (4 * MS, 7)
    assert [(row.line, row.hits, row.ns, row.source) for row in function.lines] == [
        (2, 7, 3 * MS, "    a = 1"),
        (4, 7, MS, "    return a"),
    ]
    assert function.source == TEXT.splitlines()
    assert not any(row.estimated for row in function.lines)


def test_the_hottest_function_comes_first_and_unhit_ones_are_left_out(run: RunBuilder) -> None:
    process = run.process()
    for name, ns in (("cold", 1), ("hot", MS), ("never", 0)):
        process.lines(process.code(name), 1, [(1 if ns else 0, ns)])
    process.write(ended_ns=MS)
    assert [function.function for function in lines(load(run.path)).functions] == ["hot", "cold"]


def test_functions_below_a_share_of_the_hottest_can_be_left_out(run: RunBuilder) -> None:
    process = run.process()
    for name, ns in (("cold", MS // 100), ("warm", MS // 10), ("hot", MS)):
        process.lines(process.code(name), 1, [(1, ns)])
    process.write(ended_ns=MS)
    found = lines(load(run.path), least_share=0.05).functions
    assert [function.function for function in found] == ["hot", "warm"]


def test_thinned_lines_are_estimated_and_take_their_samples_in(run: RunBuilder) -> None:
    process = run.process()
    process.lines(process.code(), 1, [(5 | HITS_THINNED, MS)], flags=1, sampled_ns=2 * MS)
    process.write(ended_ns=MS)
    row = lines(load(run.path)).functions[0].lines[0]
    assert (row.hits, row.ns, row.estimated) == (5, 3 * MS, True)


def test_a_thinned_line_was_likely_reached_as_often_as_fits_into_its_time(run: RunBuilder) -> None:
    process = run.process()
    """The first 10,000 hits are counted in any case: what has fewer was counted to the end."""
    entries = [(10_000 | HITS_THINNED, MS), (7 | HITS_THINNED, MS)]
    process.lines(process.code(), 1, entries, flags=1, sampled_ns=2 * MS)
    process.write()
    thinned, counted = lines(load(run.path)).functions[0].lines
    assert (thinned.hits, thinned.likely_hits) == (10_000, 30_000)
    assert (counted.hits, counted.likely_hits, counted.estimated) == (7, None, True)


def test_workers_are_summed_and_ranks_are_not(run: RunBuilder) -> None:
    for pid, role, rank in (
        (1, "rank", 0), (2, "rank", 1), (3, "worker", None), (4, "worker", None),
    ):  # fmt: skip
        process = run.process(pid=pid, role=role, rank=rank)
        process.lines(process.code(), 1, [(pid, pid)], calls=1)
        process.write(ended_ns=MS)
    functions = lines(load(run.path)).functions
    found = {
        (function.process.role, function.process.rank, function.process.pid): (
            function.lines[0].hits,
            function.calls,
        )
        for function in functions
    }
    assert found == {
        ("rank", 0, 1): (1, 1),
        ("rank", 1, 2): (2, 1),
        ("worker", None, None): (7, 2),
    }


def test_code_objects_of_one_function_are_one_entry(run: RunBuilder) -> None:
    process = run.process()
    file = process.file()
    for _ in range(2):
        process.lines(process.code("outer.<locals>.f", file=file), 3, [(1, 5), (2, 6)])
    process.write(ended_ns=MS)
    functions = lines(load(run.path)).functions
    assert [(row.line, row.hits, row.ns) for row in functions[0].lines] == [(3, 2, 10), (4, 4, 12)]
    assert len(functions) == 1


def test_files_outside_of_the_folder_keep_their_whole_path(run: RunBuilder) -> None:
    process = run.process()
    for path in (f"{CWD}/pkg/a.py", f"{CWD}-other/b.py"):
        process.lines(process.code(file=process.file(path)), 1, [(1, 1)])
    process.write(ended_ns=MS)
    answer = lines(load(run.path))
    assert {function.file for function in answer.functions} == {"pkg/a.py", f"{CWD}-other/b.py"}
    assert answer.functions[0].lines[0].source is None
    assert any("source text" in note for note in answer.notes)


def test_files_of_a_copy_are_shown_under_the_path_of_the_original(tmp_path: Path) -> None:
    copies = {"/runs/try/copy/0": "/home/project", "/runs/try/copy/1": "/home/scripts"}
    run = RunBuilder(tmp_path / "run", cwd="/runs/try/copy/0/src", copied_from=copies)
    process = run.process()
    for path in ("0/src/a.py", "0/lib/b.py", "1/train.py"):
        file = process.file(f"/runs/try/copy/{path}")
        process.lines(process.code(file=file), 1, [(1, 1)])
    process.write(ended_ns=MS)
    shown = {function.file for function in lines(load(run.path)).functions}
    assert shown == {"a.py", "/home/project/lib/b.py", "/home/scripts/train.py"}


def test_a_file_that_autograph_wrote_is_not_the_users_own(run: RunBuilder) -> None:
    process = run.process()
    file = process.file("/tmp/__autograph_generated_filex1y2.py")
    process.lines(process.code("inner", file=file), 1, [(1, MS)], calls=1)
    process.write(ended_ns=MS)
    assert not lines(load(run.path)).functions
