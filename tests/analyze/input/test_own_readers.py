"""Which of the user's lines make batches behind a tf.data pipeline, on runs built by hand."""

from pathlib import Path

import pytest

from build import CWD, MS, ProcessBuilder, RunBuilder
from stepscope.analyze.input.loading_code import generating, has_uncounted, loading_lines
from stepscope.analyze.input.tf_data import reader_words
from stepscope.analyze.run import load
from stepscope.model import InputLine, Process, StageRow
from stepscope.store.format import HITS_THINNED

TEXT = "\n".join(
    ["def bag(doc):", "    v = zeros()", "    return v", "def reader():", "    yield made(doc)"]
)
BATCHES = 10
GRAPHS = "/site-packages/tensorflow/python/ops/script_ops.py"
GENERATORS = "/site-packages/tensorflow/python/data/ops/from_generator_op.py"


def process_with(run: RunBuilder, calls: str, name: str) -> ProcessBuilder:
    """A thread of the graph is seen in `bag`, which `reader` calls under another name."""
    process = run.process()
    file = process.file(text=TEXT)
    codes = [
        process.code(each, file=file, first_line=at) for each, at in (("bag", 1), ("reader", 4))
    ]
    process.lines(codes[0], 1, [(0, 0), (BATCHES, 8 * MS * BATCHES), (BATCHES, 0)])
    process.lines(codes[1], 4, [(0, 0), (BATCHES, 9 * MS * BATCHES)])
    graph = process.node(process.function("FuncRegistry.__call__", file=GRAPHS))
    called = process.node(process.function(name, file=calls), graph)
    path = f"{CWD}/train.py"
    reader = process.node(process.function("reader", file=path, line=4), called, line=5)
    bag = process.node(process.function("bag", file=path, line=1), reader, line=2)
    thread = process.thread()
    for batch in range(BATCHES):
        process.sample(bag, batch * 10 * MS, 9 * MS, thread=thread)
    return process


def test_a_readers_hottest_line_is_in_the_function_that_it_was_seen_in(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    name = "_from_generator.<locals>.generator_next_fn.<locals>.generator_py_func"
    process_with(run, GENERATORS, name).write()
    loaded = load(run.path)
    assert loaded.main is not None
    code = generating(loaded, loaded.main, BATCHES)
    assert code is not None
    hottest, *others = loading_lines(loaded, code)
    assert (hottest.function, hottest.line) == ("bag", 2)
    assert hottest.ms_per_batch == pytest.approx(8.0)
    assert [each.function for each in others] == ["reader"]


def test_a_function_that_a_graph_calls_is_no_reader(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process_with(run, "/site-packages/tensorflow/python/ops/ragged.py", "call").write()
    loaded = load(run.path)
    assert loaded.main is not None
    assert generating(loaded, loaded.main, BATCHES) is None


def test_a_reader_that_no_look_found_is_what_ran_and_was_seen_nowhere(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    file = process.file(text=TEXT)
    for name, line, ms in (("bag", 1, 8), ("reader", 4, 9)):
        code = process.code(name, file=file, first_line=line)
        process.lines(code, line, [(0, 0), (BATCHES, ms * MS * BATCHES)])
    process.write()
    loaded = load(run.path)
    assert loaded.main is not None
    reader = generating(loaded, loaded.main, BATCHES)
    assert reader is not None
    assert loading_lines(loaded, reader)[0].function == "reader"


def test_of_a_reader_that_no_look_found_only_counted_lines_have_a_time(tmp_path: Path) -> None:
    """`bag` was thinned out after a third of its calls, and no sample says what the others took."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    file = process.file(text=TEXT)
    bag = process.code("bag", file=file, first_line=1)
    process.lines(bag, 1, [(0, 0), (10_000 | HITS_THINNED, 3 * MS * BATCHES)], flags=1)
    reader = process.code("reader", file=file, first_line=4)
    process.lines(reader, 4, [(0, 0), (BATCHES, 9 * MS * BATCHES)])
    process.write()
    loaded = load(run.path)
    assert loaded.main is not None
    code = generating(loaded, loaded.main, BATCHES)
    assert code is not None
    (line,) = loading_lines(loaded, code)
    assert line.function == "reader"
    assert line.ms_per_batch == pytest.approx(9.0)
    assert has_uncounted(loaded, code)


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (8.0, ", most of it in read (train.py:3)"),
        (2.0, ", 2.00 ms of it in read (train.py:3): the"),
    ],
)
def test_a_reader_takes_most_of_its_stage_or_is_called_too_often(ms: float, words: str) -> None:
    line = InputLine(
        file="train.py", line=3, function="reviews.<locals>.read", ms_per_batch=ms, share=1.0,
        source=None,
    )  # fmt: skip
    who = Process(role="main", rank=None, pid=1)
    stage = StageRow(process=who, stage="Generator", ms_per_batch=10.0, share=1.0)
    assert reader_words(line, stage).startswith(words)
    assert ("yield whole batches" in reader_words(line, stage)) == (ms < 5)
