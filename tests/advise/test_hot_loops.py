"""Hot loops that call operators: which of them are the loop's."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.advise.evidence.hot_loops import HotLoop
from stepscope.advise.rules.python_hot_loop import _operators
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.store.records import FunctionName, ProcessInfo

FILE = "/me/train.py"
LINES = np.array([25, 25, 19, 40])  # of the window's operators


def frame(name: str, line: int) -> Frame:
    return Frame(FunctionName(id=1, file=FILE, line=1, name=name), line, True)


def case(*stacks: tuple[Frame, ...]) -> Any:
    window = SimpleNamespace(
        is_op=np.ones(len(LINES), np.bool_),
        on_lines=lambda _file, first, last: np.isin(LINES, range(first, last + 1)),
    )
    code = SimpleNamespace(shown=lambda each: each.function.file)
    looks = [Look("forward", stack, 10.0) for stack in stacks]
    return SimpleNamespace(
        operators=window, code=code, stacks=SimpleNamespace(time=SimpleNamespace(looks=looks))
    )


def loop(**fields: Any) -> HotLoop:
    line: Any = SimpleNamespace(
        function=SimpleNamespace(file=FILE, function="forward", first_line=20),
        row=SimpleNamespace(line=25, estimated=False),
        hits=64.0,
    )
    return HotLoop(line, 24, 25, line, 1000.0, 64.0, **fields)


def test_operators_of_a_function_that_only_the_loop_calls_are_the_loops() -> None:
    main, forward, one = frame("main", 50), frame("forward", 25), frame("one", 19)
    head = frame("head", 40)
    found = _operators(case((main, forward, one), (main, head)), loop())
    assert found.tolist() == [True, True, True, False]


def test_operators_of_a_function_that_is_called_elsewhere_as_well_are_not() -> None:
    main, forward, one = frame("main", 50), frame("forward", 25), frame("one", 19)
    found = _operators(case((main, forward, one), (main, one)), loop())
    assert found.tolist() == [True, True, False, False]


def test_a_loop_that_samples_timed_has_no_events_in_its_time() -> None:
    info: Any = SimpleNamespace(event_cost_ticks=20.0, ticks_per_ns=1.0)
    process: ProcessInfo = info
    lines = [loop().hottest]
    assert loop().recorded_ns(process, lines) == pytest.approx(64 * 20.0)
    assert loop(is_timed=False).recorded_ns(process, lines) == 0.0
