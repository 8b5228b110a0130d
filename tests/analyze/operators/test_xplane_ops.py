"""Operators, kernels and memory of xplanes, and the lines that called or made them."""

from collections.abc import Callable
from pathlib import Path

import pytest

import needs
from build import CWD, MS, START_NS, WALL_OFFSET_NS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.errors import InputError
from stepscope.importers.runtime_names import framework_operator, instruction_name, operator_of
from stepscope.model.ops import OpRow
from stepscope.store.events import LineBegins, Windows
from xplane_writer import PlaneWriter, Value, number, text, varint, write

US = 1000
UNIX_NS = START_NS + WALL_OFFSET_NS


def asked(path: Path) -> dict[str, OpRow]:
    return {row.name: row for row in ops(run_of_trace(path)).ops}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("model/dense/MatMul:MatMul", "MatMul"),
        (":AddV2", "AddV2"),
        ("a/_5:_Recv", "_Recv"),
        ("x:Cast#shape=(float[2])#", "Cast"),
        ("train:__inference_train_35", None),
        ("Iterator::Prefetch", None),
        ("ExecutorState::Process", None),
        ("IteratorGetNextOp::DoCompute", None),
        ("train", None),
        ("$train.py:12 main", None),
    ],
)
def test_operators_are_known_by_their_names(name: str, kind: str | None) -> None:
    assert operator_of(name) == kind


def test_names_are_those_that_people_use() -> None:
    assert framework_operator("jit(f)/jit(main)/dot_general:") == "dot_general"
    assert framework_operator("a/b/Conv2D:Conv2D") == "Conv2D"
    assert instruction_name("%fusion.12 = f32[3]{0} fusion(x)") == "fusion"
    assert instruction_name("broadcast_add_fusion.3.clone") == "broadcast_add_fusion"


def test_operators_of_all_threads_with_own_and_device_time(tmp_path: Path) -> None:
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    line = host.line(1, "tf_Compute/1")
    line.event("ExecutorState::Process", 0, 500)
    line.event("f/while:While", 0, 100)
    line.event("f/body/MatMul:MatMul", 10, 30)
    line.event("cuLaunchKernel", 12, 2, correlation_id=1)
    line.event("MemoryAllocation", 15, 0, allocation_bytes=4096, addr=1, allocator_name="cpu")
    line.event("f/body/MatMul_1:MatMul", 50, 20)
    host.line(2, "tf_Compute/2").event("g/MatMul:MatMul", 0, 10)
    device.line(7, "Stream #7(Compute)").event("gemm", 60, 25, correlation_id=1)
    path = write(tmp_path / "t.xplane.pb", host, device)
    rows = asked(path)
    assert set(rows) == {"While", "MatMul", "cuLaunchKernel"}
    assert (rows["While"].self_cpu_ns, rows["While"].total_device_ns) == (50 * US, 25 * US)
    matmul = rows["MatMul"]
    assert (matmul.calls, matmul.self_cpu_ns, matmul.total_cpu_ns) == (3, 58 * US, 60 * US)
    assert (matmul.self_device_ns, matmul.self_cpu_bytes) == (25 * US, 4096)
    told = kernels(run_of_trace(path)).kernels
    assert [(row.name, row.operator, row.total_ns) for row in told] == [("gemm", "MatMul", 25 * US)]


def test_a_device_without_a_host_still_names_its_operators_and_their_lines(tmp_path: Path) -> None:
    device = PlaneWriter("/device:TPU:0")
    stats: dict[str, Value] = {"tf_op": "jit(f)/add:", "source": "/home/me/train.py:29"}
    device.describe("%fusion.2 = f32[8] fusion(p0)", "fusion.2", **stats)
    line = device.line(2, "XLA Ops")
    line.event("%fusion.2 = f32[8] fusion(p0)", 0, 40)
    line.event("%fusion.2 = f32[8] fusion(p0)", 50, 50)
    path = write(tmp_path / "t.xplane.pb", device)
    row = asked(path)["add"]
    assert (row.calls, row.self_cpu_ns, row.self_device_ns) == (2, 0, 90 * US)
    assert row.location is not None
    assert (row.location.file, row.location.line) == ("/home/me/train.py", 29)
    kernel = kernels(run_of_trace(path)).kernels[0]
    assert (kernel.name, kernel.operator, kernel.device) == ("fusion", "add", 0)
    assert kernel.location == row.location


def test_an_instruction_too_short_to_last_a_nanosecond_takes_no_other_ones_time(
    tmp_path: Path,
) -> None:
    """Rounded, it begins where the one after it does; a loop still is what is inside it."""
    device = PlaneWriter("/device:TPU:0")
    line = device.line(2, "XLA Ops")
    line.event("copy-start.1", 10, 0.0002).event("copy-done.1", 10.0002, 30)
    line.event("while.1", 50, 40).event("add.1", 52, 10)
    copies = device.line(3, "Async XLA Ops")
    copies.event("async-copy.1", 0, 60).event("async-copy.2", 10, 20)
    path = write(tmp_path / "t.xplane.pb", device)
    found = {row.name: (row.calls, row.total_ns) for row in kernels(run_of_trace(path)).kernels}
    assert found == {
        "copy-start": (1, 0), "copy-done": (1, 30 * US), "add": (1, 10 * US),
        "async-copy": (2, 80 * US),
    }  # fmt: skip


def hlo(module: str, instruction: str, op_name: str, file: str, line: int) -> bytes:
    """A program of one instruction, with its line stored in the newer way."""
    frames = text(1, file) + text(3, number(1, 1) + number(3, line))
    frames += text(4, number(1, 1))
    metadata = text(2, op_name) + number(15, 1)
    computation = text(2, text(1, instruction) + text(7, metadata))
    return text(1, text(1, module) + text(3, computation) + text(17, frames))


def test_a_fusion_is_named_after_the_product_in_it(tmp_path: Path) -> None:
    def instruction(name: str, opcode: str, made: str, kind: str = "", calls: int = 0) -> bytes:
        metadata = (text(1, kind) if kind else b"") + text(2, made)
        content = text(1, name) + text(2, opcode) + text(7, metadata)
        return text(2, content + (text(38, varint(calls)) if calls else b""))

    fused = instruction("dot.7", "dot", "jit(f)/transpose") + number(5, 3)
    plain = instruction("mul.1", "multiply", "jit(f)/mul") + number(5, 4)
    main = instruction("fusion.1", "fusion", "jit(f)/add", calls=3)
    main += instruction("fusion.2", "fusion", "jit(f)/sub", calls=4)
    main += instruction("dot.9", "dot", "dense/product", kind="MatMul") + number(5, 5)
    program = text(1, text(1, "jit_f") + text(3, fused) + text(3, plain) + text(3, main))
    host, metadata = PlaneWriter("/host:CPU"), PlaneWriter("/host:metadata")
    metadata.describe("program", hlo_proto=program)
    line = host.line(1, "tf_XLAEigen/1")
    for index, name in enumerate(("fusion.1", "fusion.2", "dot.9", "unknown.4")):
        line.event(name, 10 * index, 5, hlo_op=name, hlo_module="jit_f")
    path = write(tmp_path / "t.xplane.pb", host, metadata)
    assert set(asked(path)) == {"dot_general", "sub", "MatMul", "unknown"}


def recorded(
    tmp_path: Path, host: PlaneWriter, *programs: bytes,
    also: Callable[[ProcessBuilder], None] = lambda process: None,
) -> Path:  # fmt: skip
    """One window from 0 to 10 ms; line 3 of train.py runs up to 5 ms, then line 5."""
    run = RunBuilder(tmp_path / "run")
    process = run.process(pid=100)
    code = process.code("train")
    process.lines(code, 1, [(1, 1000)] * 20)
    for line, at_ns in ((3, 0), (5, 5 * MS)):
        process.event(LineBegins, code, process.ticks(at_ns), line=line)
    also(process)
    name = process.name("name", name="ops-1.xplane.pb")
    process.event(Windows, name, process.ticks(0), process.ticks(10 * MS))
    process.write(ended_ns=60 * MS)
    metadata = PlaneWriter("/host:metadata")
    for index, program in enumerate(programs):
        metadata.describe(f"program{index}", hlo_proto=program)
    write(process.folder / "ops-1.xplane.pb", host, metadata, start_ns=UNIX_NS)
    return run.path


def lines_of(path: Path) -> dict[str, list[int]]:
    return {row.name: [place.line for place in row.locations] for row in ops(load(path)).ops}


def test_eager_operators_are_on_the_line_that_ran_graphs_on_the_one_that_called(
    tmp_path: Path,
) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(100, "python").event("MatMul:MatMul", 1000, 50).event("Add:AddV2", 6000, 50)
    host.line(101, "tf_Compute/101").event("f/Relu:Relu", 6500, 50)
    host.line(102, "tf_data_private_threadpool/102").event("m/Cast:Cast", 6600, 50)
    found = lines_of(recorded(tmp_path, host))
    assert found == {"MatMul": [3], "AddV2": [5], "Relu": [5], "Cast": []}


def test_a_graph_is_not_on_the_lines_of_a_generator_that_runs_beside_it(tmp_path: Path) -> None:
    """The generator's thread begins more lines, the last of them while the window opens."""

    def generates(process: ProcessBuilder) -> None:
        code, thread = process.code("items"), process.thread()
        for turn in range(20):
            at = process.ticks(turn * MS // 2)
            process.event(LineBegins, code, at, line=7, thread=thread)

    host = PlaneWriter("/host:CPU")
    host.line(101, "tf_Compute/101").event("f/MatMul:MatMul", 200, 50).event("f/Relu:Relu", 6500, 9)
    found = lines_of(recorded(tmp_path, host, also=generates))
    assert found == {"MatMul": [3], "Relu": [5]}


def test_a_graph_is_on_the_users_line_not_on_one_that_autograph_wrote(tmp_path: Path) -> None:
    def traces(process: ProcessBuilder) -> None:
        file = process.file("/tmp/__autograph_generated_file1x2y.py")
        code = process.code("inner_factory.<locals>.<lambda>", file=file)
        process.event(LineBegins, code, process.ticks(6 * MS), line=8)

    host = PlaneWriter("/host:CPU")
    host.line(100, "python").event("Add:AddV2", 6100, 50)
    host.line(101, "tf_Compute/101").event("f/Relu:Relu", 6500, 50)
    assert lines_of(recorded(tmp_path, host, also=traces)) == {"AddV2": [5], "Relu": [5]}


def test_a_compiled_operation_is_on_the_line_that_made_it(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    line = host.line(101, "tf_XLAEigen/101")
    line.event("dot.3", 6000, 50, hlo_op="dot.3", hlo_module="jit_step")
    line.event("add.1", 6100, 50, hlo_op="add.1", hlo_module="jit_step")
    mine = hlo("jit_step", "dot.3", "jit(step)/dot_general", f"{CWD}/train.py", 12)
    other = hlo("jit_step", "add.1", "jit(step)/add", "/lib/optax/update.py", 40)
    path = recorded(tmp_path, host, mine, other)
    # What a library made is on the line that called the function.
    assert lines_of(path) == {"dot_general": [12], "add": [5]}
    trace = path / "proc-0-here-100" / "ops-1.xplane.pb"
    files = {name: [place.file for place in row.locations] for name, row in asked(trace).items()}
    assert files == {"dot_general": [f"{CWD}/train.py"], "add": ["/lib/optax/update.py"]}


# --- traces in the wild ---------------------------------------------------------------------------


def test_of_a_real_trace_of_eight_gpus_every_kernel_is_counted_once() -> None:
    run = run_of_trace(needs.trace("tf_v100x8_multiworker.xplane.pb"))
    on_device_ns = sum(row.total_ns for row in kernels(run).kernels)
    answer = ops(run)
    assert answer.notes == []
    assert sum(row.self_device_ns or 0 for row in answer.ops) <= on_device_ns
    names = {row.name for row in answer.ops}
    assert {"Cast", "RandomUniform", "IteratorGetNextAsOptional", "CollectiveReduce"} <= names


def test_of_a_real_trace_of_a_tpu_the_lines_that_made_the_operations_are_reported() -> None:
    answer = ops(run_of_trace(needs.trace("jax_tpu_v6e_inference.xplane.pb")))
    places = {place.file.rpartition("/")[2] for row in answer.ops for place in row.locations}
    assert "host_offload_stress_test.py" in places


def test_how_to_mark_steps_is_said_in_the_frameworks_words(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(1, "python").event("PjitFunction(f)", 0, 10)
    with pytest.raises(InputError) as told:
        steps(run_of_trace(write(tmp_path / "t.xplane.pb", host)), scheme="xprof")
    assert "jax.profiler.StepTraceAnnotation" in str(told.value)
    assert "torch" not in str(told.value)
    assert "tf.profiler" not in str(told.value)
