"""Operators by module, counted by hand: in our windows, and in traces with stacks."""

from pathlib import Path
from typing import Any

import pytest

from build import MS, RunBuilder
from stepscope.analyze.operators.modules import ops_by_module
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.ops import OpsAnswer
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window

US = 1000
BACKWARD = "autograd::engine::evaluate_function: AddmmBackward0"


def event(name: str, start_us: float, lasted_us: float, **fields: Any) -> dict[str, Any]:
    base = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": 100, "args": {}}
    return base | {"ts": start_us, "dur": lasted_us} | fields


def call(name: str, start_us: float, lasted_us: float) -> dict[str, Any]:
    return event(name, start_us, lasted_us, cat="python_function")


def flow(forward_us: float, backward_us: float) -> list[dict[str, Any]]:
    both = {"cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 100, "tid": 100}
    return [both | {"ph": "s", "ts": forward_us}, both | {"ph": "f", "ts": backward_us}]


OPERATORS = [
    event("aten::addmm", 110, 50), event("aten::addmm", 210, 30), event("aten::relu", 250, 20),
    event("aten::mse_loss", 350, 10),
    event(BACKWARD, 400, 80), event("AddmmBackward0", 410, 60), *flow(110, 410),
]  # fmt: skip


def rows(answer: OpsAnswer) -> dict[str, tuple[int, int, int]]:
    """Calls, own time and total in us."""
    return {
        row.name: (row.calls, row.self_cpu_ns // US, row.total_cpu_ns // US) for row in answer.ops
    }


EXPECTED = {
    "(outside modules)": (1, 10, 10),
    "Net": (1, 20, 180),
    "Net › Linear": (2, 160, 160),  # both layers and the backward of the first
}


def test_modules_of_a_trace_with_stacks(tmp_path: Path) -> None:
    calls = [
        call("train.py(3): main", 0, 900), call("nn.Module: Net_0", 100, 200),
        call("nn.Module: Linear_0", 105, 60), call("nn.Module: Linear_1", 205, 40),
    ]  # fmt: skip
    trace = trace_file(tmp_path / "trace.json", [*calls, *OPERATORS])
    assert rows(ops_by_module(run_of_trace(trace))) == EXPECTED


def test_modules_of_an_operator_window(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process(pid=100)
    process.span(SpanCategory.FORWARD, 100 * US, 300 * US, name="Net")
    process.span(SpanCategory.MODULE, 105 * US, 165 * US, name="Linear")
    process.span(SpanCategory.MODULE, 205 * US, 245 * US, name="Linear")
    process.span(SpanCategory.FORWARD, 20 * MS, 21 * MS, name="Net")  # after the window
    window(process, 0, 10 * MS)
    process.write(ended_ns=60 * MS)
    trace_file(process.folder / TRACE, OPERATORS)
    assert rows(ops_by_module(load(run.path))) == EXPECTED


@pytest.mark.parametrize("events", [[], OPERATORS])
def test_a_note_says_what_is_missing(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    answer = ops_by_module(run_of_trace(trace_file(tmp_path / "trace.json", events)))
    assert not answer.ops
    assert "with_stack=True" in answer.notes[-1]
