"""Calls and times of functions, on trees whose answer can be counted by hand."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.code.functions import functions
from stepscope.analyze.phases.recording_cost import calls_share
from stepscope.model import FunctionRow, FunctionsAnswer
from stepscope.store import format as fmt
from stepscope.store.reader import open_run


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def answer(run: RunBuilder) -> FunctionsAnswer:
    return functions(open_run(run.path))


def rows(run: RunBuilder) -> dict[str, FunctionRow]:
    return {row.function: row for row in answer(run).functions}


def figures(row: FunctionRow) -> tuple[int | None, int | None, float, float]:
    own_ns, inclusive_ns = row.tottime_ns or 0, row.cumtime_ns or 0
    return row.ncalls, row.primitive_calls, own_ns / MS, inclusive_ns / MS


def small_tree(process: ProcessBuilder) -> None:
    """main 100 ms: twice f, 60 ms, of which g takes 20."""
    main, f, g = (process.function(name) for name in ("main", "f", "g"))
    root = process.root()
    top = process.call(root, main, 1, 100 * MS)
    process.call(process.call(top, f, 2, 60 * MS), g, 6, 20 * MS)


def test_own_time_is_what_callees_leave(run: RunBuilder) -> None:
    process = run.process()
    small_tree(process)
    process.write(100 * MS)
    found = rows(run)
    assert figures(found["main"]) == (1, 1, 40, 100)
    assert figures(found["f"]) == (2, 2, 40, 60)
    assert figures(found["g"]) == (6, 6, 20, 20)
    assert answer(run).exact
    assert [row.function for row in answer(run).functions] == ["main", "f", "g"]


def test_callers_and_callees_are_both_sides_of_a_pair(run: RunBuilder) -> None:
    process = run.process()
    small_tree(process)
    process.write(100 * MS)
    found = rows(run)
    (caller,) = found["g"].callers
    (callee,) = found["f"].callees
    assert (caller.function, caller.ncalls, caller.cumtime_ns) == ("f", 6, 20 * MS)
    assert (callee.function, callee.ncalls, callee.cumtime_ns) == ("g", 6, 20 * MS)
    assert found["main"].callers == []


def test_only_outermost_calls_of_a_function_are_primitive_and_add_time(run: RunBuilder) -> None:
    process = run.process()
    f, g = process.function("f"), process.function("g")
    outer = process.call(process.root(), f, 1, 50 * MS)
    inner = process.call(outer, f, 3, 30 * MS)
    between = process.call(inner, g, 2, 20 * MS)
    process.call(between, f, 4, 5 * MS)
    process.write(50 * MS)
    found = rows(run)
    assert figures(found["f"]) == (8, 1, 20 + 10 + 5, 50)
    assert figures(found["g"]) == (2, 2, 15, 20)
    by_itself = next(caller for caller in found["f"].callers if caller.function == "f")
    by_g = next(caller for caller in found["f"].callers if caller.function == "g")
    assert (by_itself.ncalls, by_itself.primitive_calls, by_itself.cumtime_ns) == (3, 3, 30 * MS)
    assert (by_g.ncalls, by_g.primitive_calls, by_g.cumtime_ns) == (4, 4, 5 * MS)


def test_a_pair_inside_itself_is_no_primitive_call_of_the_pair(run: RunBuilder) -> None:
    process = run.process()
    f = process.function("f")
    node = process.root()
    for depth in range(4):
        node = process.call(node, f, 1, (40 - 10 * depth) * MS)
    process.write(40 * MS)
    (caller,) = rows(run)["f"].callers
    assert (caller.ncalls, caller.primitive_calls, caller.cumtime_ns) == (3, 1, 30 * MS)


def test_our_own_functions_are_left_out_and_their_callees_kept(run: RunBuilder) -> None:
    process = run.process()
    main, f = process.function("main"), process.function("f")
    top = process.call(process.root(), main, 1, 100 * MS)
    ours = process.call(process.call(top, 0, 5, 50 * MS), 0, 5, 40 * MS)
    process.call(ours, f, 5, 30 * MS)
    process.write(100 * MS)
    found = rows(run)
    assert set(found) == {"main", "f"}
    assert figures(found["main"]) == (1, 1, 50, 100)
    assert [caller.function for caller in found["f"].callers] == ["main"]


def test_threads_are_summed_and_recursion_is_of_one_thread(run: RunBuilder) -> None:
    process = run.process()
    f = process.function("f")
    for _ in range(2):
        process.call(process.root(process.thread()), f, 3, 10 * MS)
    process.write(20 * MS)
    assert figures(rows(run)["f"]) == (6, 6, 20, 20)


def test_workers_are_taken_together_and_apart_from_the_main_process(run: RunBuilder) -> None:
    for pid, role in ((100, "main"), (101, "worker"), (102, "worker")):
        process = run.process(pid, role=role)
        process.call(process.root(), process.function("f"), pid - 99, 10 * MS)
        process.write(10 * MS)
    found = {(row.process.role, row.ncalls) for row in answer(run).functions}
    assert found == {("main", 1), ("worker", 5)}


def test_calls_that_were_open_last_until_the_process_was_gone(run: RunBuilder) -> None:
    process = run.process(status="running")
    f = process.function("f")
    root = process.root()
    node = process.call(root, f, 3, 20 * MS)
    process.open_calls((root, 0), (node, 70 * MS))
    process.clock(100 * MS)
    process.write(100 * MS)
    run.supervisor(100 * MS, signal="SIGKILL")
    assert figures(rows(run)["f"]) == (3, 3, 50, 50)


def test_without_names_the_rest_is_still_shown(run: RunBuilder) -> None:
    process = run.process()
    process.call(process.root(), 77, 3, 20 * MS)
    process.write(20 * MS)
    assert figures(rows(run)["function 77"]) == (3, 3, 20, 20)


def test_without_calls_the_users_functions_have_exact_numbers_from_lines(run: RunBuilder) -> None:
    process = run.process()
    code = process.code("train", first_line=3)
    process.lines(code, 3, [(5, 10 * MS), (5, 20 * MS)], calls=5)
    process.write(40 * MS)
    found = answer(run)
    (row,) = found.functions
    assert not found.exact
    assert (row.file, row.line, row.function, row.ncalls) == ("train.py", 3, "train", 5)
    assert (row.primitive_calls, row.tottime_ns, row.cumtime_ns) == (None, None, 30 * MS)
    assert not row.estimated


def test_samples_never_give_a_function_more_than_its_lines_took(run: RunBuilder) -> None:
    process = run.process()
    code = process.code("train", first_line=3)
    process.lines(code, 3, [(5, 30 * MS)], calls=5)
    process.sample(process.node(process.function("train", line=3)), 0, 31 * MS)
    process.write(40 * MS)
    (row,) = answer(run).functions
    assert (row.tottime_ns, row.cumtime_ns) == (30 * MS, 30 * MS)


def test_thinned_functions_have_a_lower_bound_of_calls(run: RunBuilder) -> None:
    process = run.process()
    flags = int(fmt.BlockFlag.THINNED)
    process.lines(process.code("hot"), 1, [(9000, 10 * MS)], calls=9000, flags=flags)
    process.write(40 * MS)
    (row,) = answer(run).functions
    assert (row.ncalls, row.estimated) == (9000, True)


@pytest.mark.parametrize("cut", range(0, 700, 7))
def test_a_file_that_is_cut_anywhere_shows_what_is_left(run: RunBuilder, cut: int) -> None:
    process = run.process()
    small_tree(process)
    process.write(100 * MS)
    file = process.folder / fmt.CALLS_FILE
    whole = {name: row.ncalls for name, row in rows(run).items()}
    file.write_bytes(file.read_bytes()[:cut])
    left = answer(run)
    found = {row.function: row.ncalls for row in left.functions}
    assert found.items() <= whole.items()
    assert found == whole or not left.exact
    assert found == whole or left.notes


@pytest.mark.parametrize("place", range(64, 64 + 64 + 48 * 4, 4))
@pytest.mark.parametrize("garbage", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x07\x00\x00\x00"])
def test_garbage_anywhere_is_survived(run: RunBuilder, place: int, garbage: bytes) -> None:
    process = run.process()
    small_tree(process)
    process.write(100 * MS)
    file = process.folder / fmt.CALLS_FILE
    data = bytearray(file.read_bytes())
    data[place : place + 4] = garbage
    file.write_bytes(data)
    for row in answer(run).functions:
        assert (row.ncalls or 0) >= 0
        assert (row.cumtime_ns or 0) >= (row.tottime_ns or 0) >= 0 or row.primitive_calls == 0


def test_counting_calls_is_part_of_what_recording_cost(run: RunBuilder) -> None:
    process = run.process(call_cost_ticks=100.0)
    process.call(process.root(), process.function("f"), 10_000, 20 * MS)
    process.write(100 * MS)
    (only,) = open_run(run.path).processes
    assert calls_share(only) == pytest.approx(0.01)
