"""Operators counted by hand: nesting, own time, devices, memory, lines, floating-point work."""

import json
from pathlib import Path
from typing import Any

import pytest

import needs
from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.code.lines import lines
from stepscope.analyze.operators.flops import flops
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces.events import unix_events
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.analyze.traces.windows import windows
from stepscope.importers.trace import Shapes
from stepscope.model.ops import OpRow, OpsAnswer
from stepscope.store.events import LineBegins
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window

US = 1000


def event(name: str, start_us: float, lasted_us: float, **fields: Any) -> dict[str, Any]:
    """Times since the recording began."""
    args = fields.pop("args", {})
    base = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": 100, "args": args}
    return base | {"ts": start_us, "dur": lasted_us} | fields


def asked(path: Path, events: list[dict[str, Any]], *, by_shape: bool = False) -> dict[str, OpRow]:
    answer = ops(run_of_trace(trace_file(path / "trace.json", events)), by_shape=by_shape)
    return {row.name: row for row in answer.ops}


def test_own_time_is_what_the_operators_inside_leave(tmp_path: Path) -> None:
    rows = asked(
        tmp_path,
        [
            event("aten::linear", 0, 100),
            event("aten::addmm", 10, 60),
            event("aten::empty", 20, 5),
            event("aten::t", 75, 5),
            event("aten::addmm", 200, 40),
        ],
    )
    assert rows["aten::linear"].self_cpu_ns == 35 * US
    assert (rows["aten::addmm"].calls, rows["aten::addmm"].self_cpu_ns) == (2, 95 * US)
    assert rows["aten::addmm"].total_cpu_ns == 100 * US
    assert rows["aten::linear"].self_device_ns is None
    assert rows["aten::linear"].self_cpu_bytes is None


def test_threads_do_not_nest_into_each_other(tmp_path: Path) -> None:
    rows = asked(tmp_path, [event("a", 0, 100), event("b", 10, 50, tid=101)])
    assert rows["a"].self_cpu_ns == 100 * US


def test_an_only_child_of_the_same_name_is_the_same_call(tmp_path: Path) -> None:
    """As in torch's own tables: three nested ones are one, two side by side are not."""
    rows = asked(
        tmp_path,
        [
            event("op", 0, 100), event("op", 10, 50), event("op", 20, 20), event("in", 25, 5),
            event("two", 200, 100), event("two", 210, 10), event("two", 230, 10),
        ],
    )  # fmt: skip
    assert (rows["op"].calls, rows["op"].self_cpu_ns) == (1, 95 * US)
    assert (rows["two"].calls, rows["two"].total_cpu_ns) == (3, 120 * US)


def test_what_torch_leaves_out_is_left_out(tmp_path: Path) -> None:
    rows = asked(tmp_path, [event("a", 0, 9), event("aten::is_leaf", 1, 5)])
    assert list(rows) == ["a"]
    assert rows["a"].self_cpu_ns == 9 * US


def test_kernels_belong_to_the_operator_that_launched_them(tmp_path: Path) -> None:
    events = [
        event("aten::linear", 0, 100, args={"External id": 1}),
        event("aten::addmm", 10, 50, args={"External id": 2}),
        event("cudaLaunchKernel", 20, 5, cat="cuda_runtime", args={"External id": 2}),
        event("gemm", 300, 80, cat="kernel", pid=0, tid=7,
              args={"External id": 2, "device": 0, "stream": 7}),
        event("Memcpy HtoD", 400, 20, cat="gpu_memcpy", pid=0, tid=7, args={"device": 0}),
    ]  # fmt: skip
    rows = asked(tmp_path, events)
    assert rows["aten::addmm"].self_device_ns == rows["aten::linear"].total_device_ns == 80 * US
    assert rows["aten::linear"].self_device_ns == 0
    assert rows["aten::addmm"].self_cpu_ns == 45 * US
    assert "gemm" not in rows
    answer = kernels(run_of_trace(tmp_path / "trace.json"))
    told = [(row.name, row.kind, row.calls, row.total_ns, row.operator) for row in answer.kernels]
    assert told == [
        ("gemm", "kernel", 1, 80 * US, "aten::addmm"),
        ("Memcpy HtoD", "memcpy", 1, 20 * US, None),
    ]
    assert answer.kernels[0].share == pytest.approx(0.8)


def memory_event(at_us: float, size: int, address: int) -> dict[str, Any]:
    args = {"Bytes": size, "Device Type": 0, "Addr": address}
    return {"ph": "i", "name": "[memory]", "pid": 100, "tid": 100, "ts": at_us, "args": args}


def test_memory_is_what_was_allocated_minus_what_was_freed(tmp_path: Path) -> None:
    rows = asked(
        tmp_path,
        [
            event("outer", 0, 100), event("inner", 10, 50),
            memory_event(20, 400, 1), memory_event(70, -100, 2), memory_event(500, -50, 3),
        ],
    )  # fmt: skip
    assert (rows["inner"].self_cpu_bytes, rows["outer"].self_cpu_bytes) == (400, -100)
    assert rows["outer"].total_cpu_bytes == 300
    assert (rows["[memory]"].calls, rows["[memory]"].self_cpu_bytes) == (1, -50)


def test_by_shape_the_same_name_has_several_rows(tmp_path: Path) -> None:
    small, large = ({"Input Dims": [[n, n], [n, n]]} for n in (2, 3))
    events = [event("aten::mm", i, 1, args=small if i < 2 else large) for i in range(3)]
    answer = ops(run_of_trace(trace_file(tmp_path / "t.json", events)), by_shape=True)
    found = {str(row.input_shapes): (row.calls, row.flops) for row in answer.ops}
    assert found == {"[[2, 2], [2, 2]]": (2, 2 * 16), "[[3, 3], [3, 3]]": (1, 54)}


@pytest.mark.parametrize(
    ("name", "dims", "concrete", "expected"),
    [
        ("aten::mm", [[2, 3], [3, 5]], "", 60),
        ("aten::addmm", [[5], [2, 3], [3, 5]], "", 60),
        ("aten::bmm", [[7, 2, 3], [7, 3, 5]], "", 420),
        ("aten::conv2d", [[4, 3, 8, 8], [16, 3, 3, 3], [16]],
         '["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]', 2 * 4 * 64 * 16 * 27),
        ("aten::conv2d", [[4, 3, 8, 8], [16, 3, 3, 3], [16]],
         '["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "1"]', 2 * 4 * 9 * 16 * 27),
        ("aten::mm", [[2, 3], [4, 5]], "", None),
        ("aten::mm", [], "", None),
        ("aten::relu", [[2, 3]], "", None),
    ],
)  # fmt: skip
def test_flops(name: str, dims: list[Any], concrete: str, expected: int | None) -> None:
    assert flops(name, Shapes(json.dumps(dims), "", concrete)) == expected


# --- with a recording around it -------------------------------------------------------------------


def logged(process: ProcessBuilder, code: int, line: int, at_us: int) -> None:
    process.event(LineBegins, code, process.ticks(at_us * US), line=line)


def recorded(
    tmp_path: Path, events: list[dict[str, Any]], log: list[tuple[int, int]], *, of_script: int = 0
) -> Path:
    """One window from 0 to 10 ms in train.py; `log` is (line, at us)."""
    run = RunBuilder(tmp_path / f"run{of_script}")
    process = run.process(pid=100)
    code = process.code("train")
    process.lines(code, 1, [(1, 1000)] * 20)
    for line, at_us in log:
        logged(process, code if line else 0, line, at_us)
    window(process, 0, 10 * MS, is_scripts=of_script)
    process.write(ended_ns=60 * MS)
    trace_file(process.folder / TRACE, events)
    return run.path


def flow(number: int, forward_us: float, backward_us: float) -> list[dict[str, Any]]:
    both = {"cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": 100, "tid": 100}
    return [both | {"ph": "s", "ts": forward_us}, both | {"ph": "f", "ts": backward_us}]


BACKWARD = "autograd::engine::evaluate_function: "


def lines_of(answer: OpsAnswer) -> dict[str, list[int]]:
    return {row.name: [place.line for place in row.locations] for row in answer.ops}


def test_operators_are_on_the_line_that_ran_and_backward_on_its_twins(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        [
            event("aten::mm", 110, 50),
            event("aten::relu", 210, 20),
            event(BACKWARD + "ReluBackward", 310, 40),
            event("ReluBackward", 315, 30),
            event("aten::threshold_backward", 320, 20),
            event(BACKWARD + "AccumulateGrad", 360, 10),
            *flow(1, 210, 315),
        ],
        [(3, 100), (4, 200), (5, 300), (0, 900)],
    )
    found = lines_of(ops(load(path)))
    assert found["aten::mm"] == [3]
    assert found["aten::relu"] == [4]
    assert found["ReluBackward"] == found["aten::threshold_backward"] == [4]
    assert found[BACKWARD + "ReluBackward"] == [4]
    assert found[BACKWARD + "AccumulateGrad"] == [5]


def test_without_flows_the_sequence_number_names_the_twin(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        [
            event("aten::add", 110, 5, args={"Sequence number": 8}),  # made no gradient
            event("aten::mm", 210, 50, args={"Sequence number": 8}),
            event(BACKWARD + "MmBackward", 310, 40),
            event("MmBackward", 315, 30, args={"Sequence number": 8}),
        ],
        [(3, 100), (4, 200), (5, 300)],
    )
    assert lines_of(ops(load(path)))["MmBackward"] == [4]


def test_the_users_own_backward_keeps_its_line(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        [
            event("Mine", 110, 50),
            event(BACKWARD + "MineBackward", 310, 400),
            event("MineBackward", 315, 380),
            event("aten::mul", 420, 50),
            event("aten::add", 620, 20),
            *flow(1, 110, 315),
        ],
        [(3, 100), (5, 300), (9, 400), (5, 500)],
    )
    found = lines_of(ops(load(path)))
    assert found["aten::mul"] == [9]
    assert found["aten::add"] == found["MineBackward"] == [3]


def test_a_few_microseconds_between_the_clocks_are_found_out(tmp_path: Path) -> None:
    """Every operator seems to begin 3 us before its line does."""
    starts = range(100, 3100, 100)
    events = [event("op", start - 3, 90) for start in starts]
    path = recorded(tmp_path, events, [(3 + i % 5, start) for i, start in enumerate(starts)])
    (row,) = ops(load(path)).ops
    assert [place.calls for place in row.locations] == [6] * 5
    assert {place.line for place in row.locations} == {3, 4, 5, 6, 7}


def test_a_line_owns_the_memory_it_allocated_until_it_is_freed(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        [
            event("aten::mm", 110, 50), event("aten::add", 210, 50),
            memory_event(120, 1000, 1), memory_event(130, 300, 2), memory_event(230, -1000, 1),
        ],
        [(3, 100), (4, 200)],
    )  # fmt: skip
    run = load(path)
    (function,) = lines(run).functions
    figures = {line.line: (line.ops_ns, line.alloc_bytes) for line in function.lines}
    assert figures[3] == (50 * US, 1300)
    assert figures[4] == (50 * US, 0)
    (told,) = memory(run).lines or []
    assert (told.location.line, told.alloc_bytes, told.kept_bytes) == (3, 1300, 300)


OPEN_AT_THE_END = event("Optimizer.step#Adam.step", 9_400, 30_600, cat="user_annotation")


def test_the_closing_of_our_own_window_is_no_operators_time(tmp_path: Path) -> None:
    """It is closed in the optimizer's hook, 10 ms after it was opened; closing takes 30 ms more."""
    events = [
        OPEN_AT_THE_END,
        event("aten::add_", 9_500, 400),
        event("cudaDeviceSynchronize", 10_100, 5_000, cat="cuda_runtime"),
        event("aten::copy_", 9_900, 500, tid=101),  # another thread continues meanwhile
        event("gemm", 9_900, 700, cat="kernel", pid=0, tid=7, args={"device": 0, "stream": 7}),
    ]
    run = load(recorded(tmp_path, events, [(3, 100)]))
    rows = {row.name: row for row in ops(run).ops}
    step = rows["Optimizer.step#Adam.step"]
    assert (step.total_cpu_ns, step.self_cpu_ns) == (600 * US, 200 * US)
    assert rows["cudaDeviceSynchronize"].total_cpu_ns == 0
    assert rows["aten::copy_"].total_cpu_ns == 500 * US
    assert kernels(run).kernels[0].total_ns == 700 * US
    (line,) = (line for line in lines(run).functions[0].lines if line.line == 3)
    assert line.ops_ns == 1100 * US
    scripts = load(recorded(tmp_path, events, [(3, 100)], of_script=1))
    assert {row.name: row.total_cpu_ns for row in ops(scripts).ops}[step.name] == 30_600 * US


def test_who_hands_a_window_on_leaves_its_closing_out(tmp_path: Path) -> None:
    (window,) = windows(load(recorded(tmp_path, [OPEN_AT_THE_END], [])).processes[0])
    ((_, _, lasted_ns),) = unix_events(window)
    assert lasted_ns == 600 * US


def test_a_run_without_windows_says_why(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.lines(process.code("train"), 1, [(1, 5)])
    process.write(ended_ns=MS)
    answer = ops(load(run.path))
    assert answer.ops == []
    assert any("--ops all" in note for note in answer.notes)
    assert lines(load(run.path)).functions[0].lines[0].ops_ns is None


def test_why_there_are_no_windows_is_said_once(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    builder.process().write(ended_ns=MS)
    why = "Operators are not recorded: the training does not run on the main thread."
    run = load(builder.path)
    run.processes[0].notes[:] = [why]
    assert ops(run).notes == [why]


def test_steps_of_our_windows_and_the_next_are_not_measured(tmp_path: Path) -> None:
    for of_script, expected in ((0, [10, 11, 12, 13]), (1, [])):
        run = RunBuilder(tmp_path / f"run{of_script}")
        process = run.process()
        for number in range(40):
            process.span(SpanCategory.FORWARD, number * 10 * MS + 1, number * 10 * MS + 5)
            process.step((number + 1) * 10 * MS)
        window(process, 100 * MS, 125 * MS, is_scripts=of_script)
        process.write()
        loaded = load(run.path)
        steps = find_steps(loaded, loaded.main)
        left_out = [n for n in range(steps.warmup, 40) if not steps.is_measured[n]]
        assert left_out == expected


# --- traces in the wild ---------------------------------------------------------------------------


def test_a_trace_of_another_machine_has_its_kernels_under_their_operators() -> None:
    path = needs.trace("torch_v100_resnet50_workers0.pt.trace.json.gz")
    answer = ops(run_of_trace(path))
    device_ns = sum(row.self_device_ns or 0 for row in answer.ops)
    assert answer.self_device_ns == device_ns
    assert answer.self_cpu_ns == sum(row.self_cpu_ns for row in answer.ops)
    # TensorBoard's plugin: 98,589 + 1,915 + 89 us of a step on the device, six steps.
    assert device_ns == pytest.approx(6 * (98_589 + 1_915 + 89) * US, rel=0.01)
    assert sum(row.total_ns for row in kernels(run_of_trace(path)).kernels) >= device_ns
    assert {row.name for row in answer.ops} >= {"aten::cudnn_convolution", "cudaLaunchKernel"}


def test_kernels_of_collectives_are_named_with_what_launched_them() -> None:
    path = needs.trace("torch_a100_ddp2_nccl_rank0.json.gz")
    first = kernels(run_of_trace(path)).kernels[0]
    assert first.name.startswith("ncclKernel_AllReduce")
    assert (first.calls, first.operator) == (15, "record_param_comms")
