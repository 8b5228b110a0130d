"""Calls of jitted functions, before and after it is known what they do."""

from pathlib import Path

import numpy as np

from build import RunBuilder
from stepscope.analyze.steps.jitted_functions import may_evaluate, with_first_calls
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import open_run

TRAINS, EVALUATES, GRADIENTS = 5, 6, 7  # ids of names


def calls(tmp_path: Path, *rows: tuple[int, dict[str, int]]) -> Spans:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for name, columns in rows:
        process.event(Spans, name, 1, 2, category=SpanCategory.COMPUTE, **columns)
    process.write()
    return open_run(run.path).processes[0].spans


def test_first_calls_get_the_number_that_came_later(tmp_path: Path) -> None:
    recorded = calls(
        tmp_path,
        (TRAINS, {}),
        (GRADIENTS, {}),
        (EVALUATES, {}),
        (TRAINS, {"number": 1, "samples": 64, "updates": True}),
        (GRADIENTS, {"number": 2, "samples": 32}),
    )
    number, updates = with_first_calls(recorded)
    assert number.tolist() == [1, 2, 0, 1, 2]
    assert updates.tolist() == [True, False, False, True, False]
    assert recorded.samples.tolist() == [0, 0, 0, 64, 32]
    assert recorded.number.tolist() == [0, 0, 0, 1, 2]


def test_what_never_trains_may_be_evaluation() -> None:
    compute = np.array([True, True, True, False])
    name = np.array([TRAINS, EVALUATES, TRAINS, EVALUATES], np.int64)
    number = np.array([0, 0, 1, 0], np.int64)
    assert may_evaluate(compute, name, number).tolist() == [False, True, False, False]
