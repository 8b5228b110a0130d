"""The tree of sampled stacks, on runs whose times can be added up by hand."""

import random
from pathlib import Path

import pytest

from build import CWD, MS, ProcessBuilder, RunBuilder
from stepscope.analyze.code.stack_tree import CUT, NO_SAMPLES, sampled_functions, stacks
from stepscope.analyze.libraries import library_of
from stepscope.analyze.run import load
from stepscope.model import StackRow, StacksAnswer
from stepscope.store import format as fmt
from stepscope.store.reader import Run

NUMPY = "/venv/lib/python3.12/site-packages/numpy/core.py"


def written(builder: RunBuilder, process: ProcessBuilder) -> Run:
    process.write(100 * MS)
    return load(builder.path)


@pytest.fixture
def builder(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def outline(rows: list[StackRow]) -> list[tuple[int, str, int, int]]:
    return [(row.depth, row.function, row.total_ns // MS, row.self_ns // MS) for row in rows]


def test_stacks_that_begin_alike_share_their_branch(builder: RunBuilder) -> None:
    process = builder.process()
    process.file()
    main, load_, train = (process.function(name) for name in ("main", "load", "train"))
    root = process.node(main)
    process.sample(process.node(load_, root), 0, 20 * MS)
    process.sample(process.node(train, root), 20 * MS, 70 * MS)
    process.sample(root, 90 * MS, 10 * MS)
    (thread,) = stacks(written(builder, process)).threads
    assert outline(thread.rows) == [(0, "main", 100, 10), (1, "train", 70, 70), (1, "load", 20, 20)]
    assert [row.share for row in thread.rows] == [1.0, 0.7, 0.2]
    assert (thread.thread, thread.main, thread.total_ns) == ("MainThread", True, 100 * MS)


def test_lines_of_one_function_are_one_branch(builder: RunBuilder) -> None:
    process = builder.process()
    train = process.function("train")
    process.sample(process.node(train, line=3), 0, 10 * MS)
    process.sample(process.node(train, line=4), 10 * MS, 30 * MS)
    (thread,) = stacks(written(builder, process)).threads
    assert outline(thread.rows) == [(0, "train", 40, 40)]


def test_a_function_that_calls_itself_is_one_branch(builder: RunBuilder) -> None:
    process = builder.process()
    fib, leaf = process.function("fib"), process.function("leaf")
    node = 0
    for _ in range(5):
        node = process.node(fib, node)
    process.sample(process.node(leaf, node), 0, 10 * MS)
    process.sample(node, 10 * MS, 10 * MS)
    run = written(builder, process)
    (thread,) = stacks(run).threads
    assert outline(thread.rows) == [(0, "fib", 20, 10), (1, "leaf", 10, 10)]
    found = {each.name: each for each in sampled_functions(run, run.processes[0])}
    assert (found["fib"].cumtime_ns, found["fib"].tottime_ns) == (20 * MS, 10 * MS)


def test_frames_that_were_left_out_are_said(builder: RunBuilder) -> None:
    process = builder.process()
    outer, inner = process.function("outer"), process.function("inner")
    gap = process.node(0, process.node(outer))
    process.sample(process.node(inner, gap), 0, 10 * MS)
    answer = stacks(written(builder, process))
    assert outline(answer.threads[0].rows) == [(0, "outer", 10, 0), (1, "inner", 10, 10)]
    assert CUT in answer.notes


def test_threads_have_their_own_trees_and_the_main_one_comes_first(builder: RunBuilder) -> None:
    process = builder.process()
    wait, work = process.function("wait"), process.function("work")
    other = process.thread("loader")
    process.sample(process.node(work), 0, 50 * MS, thread=other)
    process.sample(process.node(wait), 0, 40 * MS)
    threads = stacks(written(builder, process)).threads
    assert [thread.thread for thread in threads] == ["MainThread", "loader"]
    assert [thread.rows[0].function for thread in threads] == ["wait", "work"]


def test_threads_that_differ_only_in_their_number_are_taken_together(builder: RunBuilder) -> None:
    process = builder.process()
    node = process.node(process.function("work"))
    for number in range(1000):
        thread = process.thread(f"Thread-{number} (work)")
        process.sample(node, 0, MS, thread=thread)
    (thread_kind,) = stacks(written(builder, process)).threads
    assert (thread_kind.thread, thread_kind.threads) == ("Thread-* (work)", 1000)
    assert thread_kind.total_ns == 1000 * MS


def test_workers_are_taken_together_and_apart_from_the_main_process(builder: RunBuilder) -> None:
    for pid, role in ((100, "main"), (101, "worker"), (102, "worker")):
        process = builder.process(pid, role=role)
        process.sample(process.node(process.function("work")), 0, 10 * MS)
        process.write(100 * MS)
    threads = stacks(load(builder.path)).threads
    assert [(each.process.role, each.total_ns // MS) for each in threads] == [
        ("main", 10),
        ("worker", 20),
    ]


def test_library_code_is_told_from_the_users(builder: RunBuilder) -> None:
    process = builder.process()
    process.file(f"{CWD}/train.py")
    root = process.node(process.function("main"))
    process.sample(process.node(process.function("dot", file=NUMPY), root), 0, 10 * MS)
    (thread,) = stacks(written(builder, process)).threads
    assert [(row.file, row.library) for row in thread.rows] == [
        ("train.py", None),
        (NUMPY, "numpy"),
    ]


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (NUMPY, "numpy"),
        ("/usr/lib/python3.11/json/decoder.py", "json"),
        ("/usr/lib/python3.11/threading.py", "threading"),
        ("/usr/lib/python3/dist-packages/six.py", "six"),
        ("<frozen importlib._bootstrap>", "importlib"),
        ("<string>", "other"),
        ("/home/ada/project/train.py", None),
        ("/opt/thing.py", "thing"),
        ("~", "built-in"),
    ],
)
def test_a_path_names_its_library(path: str, library: str | None) -> None:
    assert library_of(path, {"/home/ada/project/train.py"}) == library


def test_a_functions_own_and_inclusive_time_are_summed_over_threads(builder: RunBuilder) -> None:
    process = builder.process()
    main, work = process.function("main"), process.function("work", line=9)
    below = process.node(work, process.node(main))
    process.sample(below, 0, 30 * MS)
    process.sample(below, 0, 20 * MS, thread=process.thread())
    run = written(builder, process)
    found = sampled_functions(run, run.processes[0])
    assert [(each.name, each.tottime_ns // MS, each.cumtime_ns // MS) for each in found] == [
        ("main", 0, 50),
        ("work", 50, 50),
    ]
    assert (found[1].file, found[1].line) == ("train.py", 9)


def test_a_run_without_samples_says_so(builder: RunBuilder) -> None:
    answer = stacks(written(builder, builder.process()))
    assert answer == StacksAnswer(threads=[], notes=[NO_SAMPLES])


def test_names_that_are_missing_cost_only_the_names(builder: RunBuilder) -> None:
    process = builder.process()
    process.sample(process.node(77), 0, 10 * MS, thread=99)
    (thread,) = stacks(written(builder, process)).threads
    assert (thread.thread, thread.rows[0].function) == ("thread 99", "function 77")


# --- damage ------------------------------------------------------------------------------------


def damaged(builder: RunBuilder) -> Path:
    process = builder.process()
    node = 0
    for name in "abcdef":
        node = process.node(process.function(name), node)
        process.sample(node, 0, 10 * MS)
    process.write(100 * MS)
    return process.folder / fmt.SAMPLES_FILE


def test_a_file_cut_off_at_any_byte_keeps_what_is_before(builder: RunBuilder) -> None:
    path = damaged(builder)
    whole = path.read_bytes()
    records = 12
    for size in range(fmt.HEADER.size + records * fmt.NODE.size):
        path.write_bytes(whole[:size])
        answer = stacks(load(builder.path))
        kept = max(0, size - fmt.HEADER.size) // fmt.NODE.size
        total = sum(thread.total_ns for thread in answer.threads)
        assert total == kept // 2 * 10 * MS
        assert any("cut off" in note for note in answer.notes)


def test_garbage_is_left_out_with_a_note_and_never_a_crash(builder: RunBuilder) -> None:
    path = damaged(builder)
    whole = path.read_bytes()
    chance, noted = random.Random(3), 0
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            broken[chance.randrange(8, fmt.HEADER.size + 12 * fmt.NODE.size)] = chance.randrange(
                256
            )
        broken[8:12] = whole[8:12]  # a newer version is refused: tested elsewhere
        path.write_bytes(bytes(broken))
        run = load(builder.path)
        stacks(run)
        sampled_functions(run, run.processes[0])
        noted += any("damaged" in note for note in run.processes[0].notes)
    assert noted
