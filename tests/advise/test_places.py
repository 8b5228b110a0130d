"""Where time is said to be spent, if training uses some of the same functions."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.analyze.run import load as load_run
from stepscope.model import Location

STEPS = 40
Way = tuple[tuple[str, int], ...]  # functions and their lines, outermost first


def place_of(path: Path, training: Way, evaluating: Way) -> Location | None:
    """Steps of 20 ms, half of each in either."""
    run = RunBuilder(path)
    process = run.process()
    process.for_loop(process.loop(process.code("main"), 2, 19), 0, [20 * MS] * STEPS)
    for number, way in enumerate((training, evaluating)):
        node = _node(process, way)
        for step in range(STEPS):
            process.sample(node, (20 * step + 10 * number) * MS, 10 * MS - 1, count=4)
    process.write()
    opened = load_run(run.path)
    assert opened.main is not None
    case = Case(opened, opened.main)
    line = evaluating[-1][1]
    return where(case, [each for each in case.stacks.time.looks if each.users[-1].line == line])[0]


def _node(process: ProcessBuilder, way: Way) -> int:
    node = 0
    for name, line in way:
        known = [n["id"] for n in process.names if n["is"] == "function" and n["name"] == name]
        node = process.node(known[0] if known else process.function(name), node, line)
    return node


def test_the_place_is_the_deepest_function_that_training_does_not_use(tmp_path: Path) -> None:
    """All of the training is in `nearest`, which is not around it: it is called from there."""
    training = (("main", 5), ("learn", 21), ("nearest", 31))
    evaluating = (("main", 8), ("exhausted", 41), ("inertia", 46), ("nearest", 32))
    found = place_of(tmp_path, training, evaluating)
    assert found is not None
    assert (found.function, found.line) == ("inertia", 46)


def test_what_the_loop_calls_itself_has_the_place_of_the_loops_statement(tmp_path: Path) -> None:
    found = place_of(tmp_path, (("main", 5), ("nearest", 31)), (("main", 8), ("nearest", 32)))
    assert found is not None
    assert (found.function, found.line) == ("main", 8)


def test_a_function_around_training_is_passed_through(tmp_path: Path) -> None:
    """Both are in `epoch`, called from one line: it is not what takes the time."""
    training = (("main", 5), ("epoch", 21), ("update", 31))
    found = place_of(tmp_path, training, (("main", 5), ("epoch", 24), ("plot", 51)))
    assert found is not None
    assert (found.function, found.line) == ("plot", 51)


@pytest.mark.parametrize(("own_ms", "named"), [(2, "load"), (6, None)])
def test_a_library_function_is_named_where_it_has_half_of_the_time(
    tmp_path: Path, own_ms: int, named: str | None
) -> None:
    run = RunBuilder(tmp_path)
    process = run.process()
    process.for_loop(process.loop(process.code("main"), 2, 19), 0, [20 * MS] * STEPS)
    own = _node(process, (("main", 5), ("collate", 31)))
    load = process.function("load", file="/usr/lib/python3/site-packages/lib/reader.py")
    called = process.node(load, own, 7)
    for step in range(STEPS):
        process.sample(own, 20 * step * MS, own_ms * MS - 1, count=4)
        process.sample(called, (20 * step + own_ms) * MS, (8 - own_ms) * MS - 1, count=4)
    process.write()
    opened = load_run(run.path)
    assert opened.main is not None
    case = Case(opened, opened.main)
    assert where(case, case.stacks.time.looks)[1] == named
