"""Which of the user's lines make batches behind a tf.data pipeline, on runs built by hand."""

from pathlib import Path

import pytest

from build import CWD, MS, ProcessBuilder, RunBuilder
from stepscope.analyze.input.loading_code import generating, loading_lines
from stepscope.analyze.run import load

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
