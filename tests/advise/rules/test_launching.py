"""Small operators in the model's calls and outside of them: what a compiler would gain."""

from pathlib import Path
from typing import Any

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.eager_overhead import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window

STEPS, WINDOW, STEP_US = 40, range(20, 23), 10_000
OPERATORS = 400  # in each pass


def operator(name: str, at_us: float) -> dict[str, Any]:
    shapes = {"Input Dims": [[4, 4]], "Input type": ["float"]}
    return {
        "ph": "X", "pid": 100, "tid": 100, "cat": "cpu_op", "name": name, "ts": at_us, "dur": 2,
        "args": shapes,
    }  # fmt: skip


def judged(path: Path, *, calls: int, every_nth_is_read: int = 0) -> list[Candidate]:
    """4 ms of each step are forward, in so many calls of the model, and 5 ms are backward."""
    run = RunBuilder(path)
    process = run.process(pid=100)
    process.step(0, begins=True)
    events = []
    for step in range(STEPS):
        at_us = step * STEP_US
        for call in range(calls):
            start = at_us + call * 4_000 // calls
            end = start + 4_000 // calls
            process.span(SpanCategory.FORWARD, start * 1000, end * 1000 - 1)
        process.span(SpanCategory.BACKWARD, (at_us + 4_000) * 1000, (at_us + 9_000) * 1000)
        if step in WINDOW:
            for number in range(OPERATORS):
                read = every_nth_is_read and number % every_nth_is_read == 0
                name = "aten::_local_scalar_dense" if read else "aten::mul"
                events.append(operator(name, at_us + 5 + number * 9.9))
                events.append(operator("aten::mul", at_us + 4_005 + number * 12.0))
        process.step((at_us + STEP_US) * 1000)
    window(process, WINDOW[0] * 10 * MS, (WINDOW[-1] + 1) * 10 * MS)
    process.write()
    trace_file(process.folder / TRACE, events)
    loaded = load(run.path)
    assert loaded.main is not None
    return judge(Case(loaded, loaded.main))


def test_small_operators_in_one_call_are_nearly_all_launching(tmp_path: Path) -> None:
    """9 of 10 ms are passes that compute next to nothing."""
    (found,) = judged(tmp_path / "run", calls=1)
    assert found.share == pytest.approx(0.9, abs=0.02)
    assert found.saving.expected == pytest.approx(9 * MS, rel=0.05)
    assert len(found.evidence) == 2


def test_a_model_that_is_called_again_and_again_keeps_what_calls_cost(tmp_path: Path) -> None:
    """A compiler saves 9 ms of launching, and calls its code 40 times for 0.1 ms."""
    (found,) = judged(tmp_path / "some", calls=40)
    assert found.saving.expected == pytest.approx((9 - 40 * 0.1) * MS, rel=0.05)
    assert "40 graphs a step" in found.evidence[-1]
    (found,) = judged(tmp_path / "many", calls=100)
    assert found.saving.expected == 0


def test_each_number_that_is_read_breaks_the_graph(tmp_path: Path) -> None:
    (found,) = judged(tmp_path / "run", calls=1, every_nth_is_read=20)
    assert found.saving.expected == pytest.approx((9 - 21 * 0.1) * MS, rel=0.05)
