"""Steps in XProf's categories: of traces made by hand, and of runs."""

from pathlib import Path

import pytest

import needs
from build import MS, START_NS, WALL_OFFSET_NS, RunBuilder
from stepscope.analyze.answers.input import input
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.errors import InputError
from stepscope.importers.xplane.groups import host_events
from stepscope.importers.xplane.reader import read_xplane
from stepscope.model import StepsAnswer
from stepscope.store.events import Windows
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window
from xplane_writer import PlaneWriter, write


def shares(answer: StepsAnswer) -> dict[str, float]:
    return {share.category: share.ms for share in answer.breakdown or [] if share.ms}


def training(count: int = 3) -> PlaneWriter:
    """Steps of 100 µs on one thread; each hands work to another one, which waits 30 µs for input
    and computes 40, and beside that a pipeline runs."""
    host = PlaneWriter("/host:CPU")
    python, worker = host.line(1, "python"), host.line(2, "tf_Compute/2")
    data = host.line(3, "tf_data_iterator_resource/3")
    for step in range(count):
        at = 200 * step
        python.event("train", at, 100, step_num=step, _r=1)
        python.event("FunctionRun", at + 5, 90, _r=1, id=step)
        python.event("RunGraph", at + 6, 80, _pt=1, _p=100 + step)
        worker.event("ExecutorState::Process", at + 10, 5, _ct=1, _c=100 + step, id=step,
                     iter_num=0)  # fmt: skip
        worker.event("IteratorGetNext:IteratorGetNext", at + 10.5, 1)
        worker.event("f/MatMul:MatMul", at + 20, 70, _ct=1, _c=100 + step)
        data.event("IteratorGetNextOp::DoCompute", at + 12, 30, id=step, iter_num=0)
        data.event("Iterator::Root::Prefetch", at + 13, 29)
        data.event("Iterator::Root::Prefetch::Map", at + 14, 20)
        data.event("m/DecodeJpeg:DecodeJpeg", at + 15, 12)
    return host


def test_what_a_step_caused_on_other_threads_belongs_to_it(tmp_path: Path) -> None:
    host = host_events(read_xplane(write(tmp_path / "t.xplane.pb", training())))
    assert len(host.roots) == 3
    matmul = host.group[host.named("f/MatMul")]
    assert sorted(matmul.tolist()) == [0, 1, 2]
    assert (host.group[host.named("IteratorGetNextOp")] >= 0).all()


def test_of_several_kinds_at_one_moment_the_higher_one_counts(tmp_path: Path) -> None:
    run = run_of_trace(write(tmp_path / "t.xplane.pb", training()))
    answer = steps(run, each=True, scheme="xprof")
    assert isinstance(answer.each, list)
    # Input from 10.5 to 11.5 and from 12 to 42; RunGraph reaches from 6 to 86, MatMul to 90.
    assert answer.each[0].phases["Input"] == 31_000
    assert answer.each[0].phases["Host Compute"] == 84_000 - 31_000
    assert answer.each[0].phases["All Others"] == 116_000
    assert sum(shares(answer).values()) == pytest.approx(0.2)


def test_a_step_lasts_until_the_next_one_begins(tmp_path: Path) -> None:
    """Marked for 100 µs every 200 µs; what the last one took is not in the trace."""
    answer = steps(run_of_trace(write(tmp_path / "t.xplane.pb", training())), each=True)
    assert (answer.steps, answer.measured) == (3, 2)
    assert isinstance(answer.each, list)
    assert [step.duration_ns for step in answer.each] == [200_000, 200_000, 100_000]
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(0.2)
    assert answer.rate is not None
    assert answer.rate.per_s == pytest.approx(5000)


def test_marks_that_nearly_touch_are_the_steps(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    python = host.line(1, "python")
    for step in range(4):
        python.event("train", 100 * step, 97, step_num=step, _r=1)
    answer = steps(run_of_trace(write(tmp_path / "t.xplane.pb", host)), each=True)
    assert (answer.steps, answer.measured) == (4, 4)
    assert isinstance(answer.each, list)
    assert [step.duration_ns for step in answer.each] == [97_000] * 4


def test_batches_that_keras_marks_with_a_number_only_are_steps(tmp_path: Path) -> None:
    """Its TensorBoard callback does: the call in each batch takes 30 µs, a callback 900."""
    host = PlaneWriter("/host:CPU")
    python, worker = host.line(1, "python"), host.line(2, "tf_Compute/2")
    for step in range(4):
        at = 1000 * step
        python.event("Profiled batch", at, 990, step_num=step)
        python.event("FunctionRun", at + 5, 30, _r=1, _pt=1, _p=100 + step)
        worker.event("f/MatMul:MatMul", at + 10, 80, _ct=1, _c=100 + step)
    answer = steps(run_of_trace(write(tmp_path / "t.xplane.pb", host)))
    assert answer.steps == 4
    assert answer.step_ms is not None
    assert answer.step_ms.median == pytest.approx(0.99)
    assert shares(answer)["Host Compute"] == pytest.approx(0.08)


def test_calls_of_a_function_are_steps_from_one_to_the_next(tmp_path: Path) -> None:
    """Nothing is marked: a call returns after 30 µs, and the next one comes after a millisecond."""
    host = PlaneWriter("/host:CPU")
    python = host.line(1, "python")
    for step in range(4):
        python.event("FunctionRun", 1000 * step, 30, _r=1, id=step)
    answer = steps(run_of_trace(write(tmp_path / "t.xplane.pb", host)))
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(1.0)
    assert (answer.steps, answer.measured) == (4, 3)


def test_on_a_gpu_the_device_hides_the_host(tmp_path: Path) -> None:
    host, device = training(), PlaneWriter("/device:GPU:0")
    line = host.line(9, "tf_gpu/9")
    stream = device.line(1, "Stream #1(Compute)")
    for step in range(3):
        at = 200 * step
        line.event("cuLaunchKernel", at + 30, 4, correlation_id=step, _ct=1, _c=100 + step)
        stream.event("gemm", at + 50, 20, correlation_id=step)
        stream.event("ncclKernel", at + 75, 5, correlation_id=step)
        stream.event("MemcpyD2H", at + 80, 5, correlation_id=step)
    answer = steps(run_of_trace(write(tmp_path / "t.xplane.pb", host, device)), scheme="xprof")
    found = shares(answer)
    assert found["Device Compute"] == pytest.approx(0.020)
    assert found["Output"] == pytest.approx(0.005)
    assert found["Device Collectives"] == pytest.approx(0.005)
    assert found["Kernel Launch"] > 0
    assert sum(found.values()) == pytest.approx(0.2)


def test_a_trace_without_steps_says_how_to_mark_them(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(1, "python").event("MatMul:MatMul", 0, 5)
    with pytest.raises(InputError, match=r"tf\.profiler\.experimental\.Trace"):
        steps(run_of_trace(write(tmp_path / "t.xplane.pb", host)))


def test_a_run_without_a_device_has_its_phases_in_those_words(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for number in range(20):
        at = number * 10 * MS
        process.span(SpanCategory.INPUT, at, at + 2 * MS)
        process.span(SpanCategory.FORWARD, at + 2 * MS, at + 5 * MS)
        process.span(SpanCategory.BACKWARD, at + 5 * MS, at + 8 * MS)
        process.step(at + 10 * MS)
    process.write()
    found = shares(steps(load(run.path), scheme="xprof"))
    assert found["Input"] == pytest.approx(2.0)
    assert found["Host Compute"] == pytest.approx(8.0)  # what follows backward is the update
    assert sum(found.values()) == pytest.approx(10.0)


def test_a_run_whose_windows_saw_a_device_shows_the_steps_in_them(tmp_path: Path) -> None:
    """Of each step's 10 ms, 2 wait for input, and 5 are on the device, one of them beside it."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    events = []
    for number in range(40):
        at = number * 10 * MS
        process.span(SpanCategory.INPUT, at, at + 2 * MS)
        process.span(SpanCategory.FORWARD, at + 2 * MS, at + 8 * MS)
        process.step(at + 10 * MS)
        if 20 <= number < 23:
            us = at / 1000
            op = {"ph": "X", "pid": 100, "tid": 100, "cat": "cpu_op", "name": "aten::mm"}
            kernel = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm"}
            call = op | {"cat": "cuda_runtime", "name": "cudaLaunchKernel"}
            events += [
                op | {"ts": us + 2000, "dur": 4000},
                call | {"ts": us + 2500, "dur": 500},
                kernel | {"ts": us + 3000, "dur": 4000},
                kernel | {"ts": us + 1000, "dur": 1000},
            ]
    window(process, 200 * MS, 230 * MS)
    process.write()
    trace_file(process.folder / TRACE, events)
    answer = steps(load(run.path), scheme="xprof")
    assert answer.measured == 3
    assert shares(answer) == pytest.approx(
        {"Device Compute": 5.0, "Input": 1.0, "Kernel Launch": 0.5, "Host Compute": 0.5,
         "All Others": 3.0}
    )  # fmt: skip
    assert any("operator windows" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("workers", "loader_ms", "calls_ms", "operators_ms", "other_ms"),
    # Calls with the copies that they wait for: in the plugin's order a copy hides its call.
    [(0, 59.262, 2.908 + 1.915, 13.674, 1.156), (4, 1.186, 10.564 + 3.160, 22.665, 4.251)],
)
def test_of_a_real_trace_of_torch_the_parts_are_those_of_its_plugin(
    workers: int, loader_ms: float, calls_ms: float, operators_ms: float, other_ms: float
) -> None:
    """torch_tb_profiler's own averages; its steps reach to the end of what they launched."""
    path = needs.trace(f"torch_v100_resnet50_workers{workers}.pt.trace.json.gz")
    answer = steps(run_of_trace(path))
    found = shares(answer)
    assert answer.steps == 6
    assert found["Kernel Launch"] == pytest.approx(calls_ms, rel=0.05)
    assert found["Host Compute"] == pytest.approx(operators_ms, rel=0.01)
    assert found["All Others"] == pytest.approx(other_ms, rel=0.05)
    assert found["Input"] == pytest.approx(loader_ms, rel=0.01)
    assert answer.step_ms is not None
    assert sum(found.values()) == pytest.approx(answer.step_ms.mean)


# --- input ----------------------------------------------------------------------------------------


def test_the_stages_of_a_pipeline_with_their_own_time(tmp_path: Path) -> None:
    answer = input(run_of_trace(write(tmp_path / "t.xplane.pb", training())))
    assert answer.loader is not None
    assert answer.loader.steps == 2
    assert answer.loader.wait_ms == pytest.approx(0.031)
    assert answer.loader.share == pytest.approx(0.155)
    rows = {row.stage: row for row in answer.stages}
    assert rows["Prefetch"].ms_per_batch == pytest.approx(0.009)
    assert rows["Map"].ms_per_batch == pytest.approx(0.020)
    assert (rows["Map"].calls, rows["Map"].parallelism) == (3, 1.0)
    assert [(row.stage, row.calls) for row in answer.operations] == [("DecodeJpeg", 3)]
    assert answer.limit == "work"
    assert "AUTOTUNE" in (answer.why or "")


def test_a_batch_that_is_fetched_between_the_marks_is_input_in_both_views(tmp_path: Path) -> None:
    """`for batch in data: with Trace(...): step(batch)`: 60 of each 100 µs are before the mark."""
    host = PlaneWriter("/host:CPU")
    python = host.line(1, "python")
    for step in range(4):
        python.event("IteratorGetNext:IteratorGetNext", 100 * step, 60)
        python.event("train", 100 * step + 65, 30, step_num=step, _r=1)
        python.event("f/MatMul:MatMul", 100 * step + 66, 20)
        python.event("Iterator::Root", 100 * step + 1, 58)
    run = run_of_trace(write(tmp_path / "t.xplane.pb", host))
    shown, answer = steps(run), input(run)
    assert answer.loader is not None
    assert answer.loader.wait_ms == pytest.approx(0.060)
    assert shares(shown) == pytest.approx(
        {"Input": 0.060, "Host Compute": 0.020, "All Others": 0.020}
    )


def test_a_trace_without_a_pipeline_says_so(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(1, "python").event("MatMul:MatMul", 0, 5)
    answer = input(run_of_trace(write(tmp_path / "t.xplane.pb", host)))
    assert answer.loader is None
    assert "tf.data" in (answer.reason or "")


def test_input_inside_of_a_compiled_function_is_known_in_windows_and_estimated_elsewhere(
    tmp_path: Path,
) -> None:
    """Forty steps of 10 ms, 8 of them compute. In the window, steps 21 to 23, each waits 2 ms for
    its batch inside that, but the last one 5 ms."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for number in range(40):
        at = number * 10 * MS
        process.span(SpanCategory.COMPUTE, at + MS, at + 9 * MS)
        process.step(at + 10 * MS)
    name = process.name("name", name="ops-1.xplane.pb")
    window = process.ticks(200 * MS), process.ticks(230 * MS)
    process.event(Windows, name, *window)
    process.write()
    host = PlaneWriter("/host:CPU")
    line = host.line(5, "tf_data_iterator_get_next/5")
    for at_ms, lasted_ms in ((202, 2), (212, 2), (222, 5)):
        line.event("IteratorGetNextOp::DoCompute", at_ms * 1000, lasted_ms * 1000)
    write(process.folder / "ops-1.xplane.pb", host, start_ns=START_NS + WALL_OFFSET_NS)
    answer = steps(load(run.path), each=True)
    each = answer.each
    assert isinstance(each, list)
    assert [step.phases["input"] // MS for step in each[-20:-17]] == [2, 2, 5]
    assert [step.estimated for step in each[-21:-16]] == [True, False, False, False, True]
    assert all(sum(step.phases.values()) == step.duration_ns for step in each)
    # 9 of 24 ms there, so 3 of the 8 ms elsewhere.
    assert each[-10].phases["input"] == 3 * MS
    assert shares(answer)["input"] == pytest.approx(3.0)
    assert shares(answer)["compute"] == pytest.approx(5.0)
    assert any("estimated" in note for note in answer.notes)
