"""A step has one number in every view: the trace's own, where it numbers its steps."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.analyze.answers.step_columns import step_columns
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.operators.device import device
from stepscope.analyze.timeline.one_clock import on_one_clock
from stepscope.analyze.timeline.trace_tracks import trace_tracks
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.cli.main import main
from xplane_writer import PlaneWriter, write

OWN = "the steps that the trace marks, by its own numbers"
COUNTED = "the steps that the trace marks"


def event(category: str, name: str, at: float, lasts: float, **args: Any) -> dict[str, Any]:
    where = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 1, "tid": 1}
    return {"ph": "X", "cat": category, "name": name, **where, "ts": at, "dur": lasts, "args": args}


def torchs(path: Path, *marks: str) -> Path:
    """Of 100 µs each, with a kernel."""
    events = []
    for place, mark in enumerate(marks):
        at = 100 * place
        events += [
            event("user_annotation", mark, at, 100),
            event("cuda_runtime", "cudaLaunchKernel", at + 10, 5, correlation=place + 1),
            event("kernel", "gemm", at + 20, 50, device=0, correlation=place + 1),
        ]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def tensorflows(path: Path, *numbers: int) -> Path:
    host, gpu = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    python, stream = host.line(1, "python"), gpu.line(7, "Stream #7(Compute)")
    for place, number in enumerate(numbers):
        python.event("train", 100 * place, 97, step_num=number, _r=1)
        python.event("cuLaunchKernel", 100 * place + 5, 5, correlation_id=place + 1)
        stream.event("gemm", 100 * place + 20, 50, correlation_id=place + 1)
    return write(path, host, gpu)


def everywhere(path: Path) -> list[list[int]]:
    """The numbers of the steps in each view that has them."""
    run = run_of_trace(path)
    each, columns = steps(run, each=True).each, step_columns(run)
    assert isinstance(each, list)
    assert columns is not None
    (member,) = on_one_clock(run).members
    lane = next(iter(trace_tracks(member)))
    return [
        [step.number for step in each],
        columns.number,
        [step.number for step in device(run).ranks[0].each_step],
        [int(label.name.removeprefix("step ")) for label in lane.labels],
    ]


def test_a_step_has_the_number_of_its_mark(tmp_path: Path) -> None:
    path = torchs(tmp_path / "t.json", "ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2")
    assert everywhere(path) == 4 * [[0, 1, 2]]
    path = torchs(tmp_path / "later.json", "ProfilerStep#7", "ProfilerStep#8", "ProfilerStep#9")
    assert everywhere(path) == 4 * [[7, 8, 9]]
    assert steps(run_of_trace(path)).anchor == OWN
    assert steps(run_of_trace(path), scheme="tensorboard").anchor == OWN


@pytest.mark.parametrize(
    "marks", [("ProfilerStep#", "ProfilerStep#b"), ("ProfilerStep#5", "ProfilerStep#5")]
)
def test_marks_that_do_not_tell_the_steps_apart_are_counted(
    marks: tuple[str, ...], tmp_path: Path
) -> None:
    path = torchs(tmp_path / "t.json", *marks)
    assert everywhere(path) == 4 * [[1, 2]]
    assert steps(run_of_trace(path)).anchor == COUNTED


def test_steps_of_tensorflow_and_jax_have_theirs(tmp_path: Path) -> None:
    path = tensorflows(tmp_path / "t.xplane.pb", 40, 41, 45)
    assert everywhere(path) == 4 * [[40, 41, 45]]
    assert steps(run_of_trace(path)).anchor == OWN


def test_show_device_counts_the_steps_that_show_steps_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the last one, which the recording cut off before it launched anything."""
    path = torchs(tmp_path / "t.json", "ProfilerStep#7", "ProfilerStep#8")
    text = json.loads(path.read_text())
    text["traceEvents"].append(event("user_annotation", "ProfilerStep#9", 200, 100))
    path.write_text(json.dumps(text))
    assert everywhere(path) == 4 * [[7, 8]]
    assert device(run_of_trace(path)).ranks[0].steps == steps(run_of_trace(path)).steps == 2
    assert main(["show", str(path), "steps", "--each"]) == 0
    assert OWN in capsys.readouterr().out
