"""Windows that TensorFlow and JAX recorded, compared with XProf's answers for the same files."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, record, run, show
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.analyze.traces.windows import windows
from stepscope.model import Step

XPLANE = PROGRAMS / "xplane"


def each_step(folder: Path) -> list[Step]:
    answer = steps(load(folder), each=True).each
    assert isinstance(answer, list)
    return answer


def xprof_says(tool: str, path: Path) -> list[dict[str, Any]]:
    """In its own folder: XProf puts files beside what it reads."""
    needs.require("xprof")
    alone = path.parent / "alone" / path.name
    alone.parent.mkdir(exist_ok=True)
    shutil.copy(path, alone)
    done = run(sys.executable, XPLANE / "xprof_says.py", tool, alone)
    answer: list[dict[str, Any]] = json.loads(done.stdout)
    return answer


def xprof_steps(path: Path) -> list[dict[str, float]]:
    """By XProf's column, in ms."""
    table = xprof_says("input_pipeline_analyzer", path)[1]
    names = [column["id"] for column in table["cols"]]
    return [
        dict(zip(names, (cell["v"] for cell in row["c"]), strict=True)) for row in table["rows"]
    ]


# --- TensorFlow -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps 8 to 18 of a graph function, which fetches its batches itself."""
    needs.require("tensorflow")
    folder = tmp_path_factory.mktemp("marked") / "run"
    return record(XPLANE / "marked.py", folder, "--ops", "8:18")


def test_the_steps_of_a_trace_are_xprofs_own(marked: Path) -> None:
    path = windows(load(marked).processes[0])[0].path
    theirs = xprof_steps(path)
    ours = steps(run_of_trace(path), each=True).each
    assert isinstance(ours, list)
    assert len(ours) >= 8
    assert len(theirs) >= 6
    # XProf leaves out the first and the last step where there are many.
    mine = {round(step.duration_ns / 1e6, 4): step.phases for step in ours}
    for row in theirs:
        phases = mine[round(row["stepTimeMs"], 4)]
        for category, column in (
            ("Input", "infeedTimeMs"), ("Host Compute", "hostComputeTimeMs"),
            ("All Others", "otherTimeMs"),
        ):  # fmt: skip
            assert phases[category] / 1e6 == pytest.approx(row[column], rel=0.01, abs=0.01)


def test_input_inside_of_a_compiled_function_is_what_xprof_finds_in_the_same_window(
    marked: Path,
) -> None:
    each = each_step(marked)
    theirs = xprof_steps(windows(load(marked).processes[0])[0].path)
    for row in theirs:
        step = each[int(str(row["stepnum"]).split()[-1])]  # "train 9"
        assert not step.estimated
        assert step.phases["input"] / 1e6 == pytest.approx(row["infeedTimeMs"], rel=0.05, abs=0.05)
    assert sum(not step.estimated for step in each) >= len(theirs)
    assert each[-1].estimated
    assert each[-1].phases["input"] > 0
    for step in each:
        assert sum(step.phases.values()) == step.duration_ns


@pytest.mark.nightly
def test_the_input_share_of_fit_is_xprofs(tmp_path: Path) -> None:
    """`tf_keras` marks its steps, which XProf needs; Keras 3 is recorded in the same way."""
    needs.require("tf_keras")
    folder = record(XPLANE / "fit.py", tmp_path / "run", arguments=("tf_keras",))
    theirs = xprof_steps(windows(load(folder).processes[0])[0].path)
    assert len(theirs) >= 6
    inside = [step for step in each_step(folder) if not step.estimated]
    ours = sum(step.phases["input"] for step in inside)
    share = ours / sum(step.duration_ns for step in inside)
    expected = sum(row["infeedTimeMs"] for row in theirs) / sum(row["stepTimeMs"] for row in theirs)
    assert expected > 0.3
    assert share == pytest.approx(expected, abs=0.05)


def test_operators_are_counted_as_xprof_counts_them(marked: Path, tmp_path: Path) -> None:
    needs.require("xprof")
    board = tmp_path / "board"
    stepscope = (sys.executable, "-m", "stepscope")
    run(*stepscope, "export", marked, "--to", "tensorboard", "-o", board)
    answer = json.loads(run(sys.executable, PROGRAMS / "export/load_xprof.py", board).stdout)
    (name, found), *others = answer.items()
    assert not others
    assert name == "window_1"
    assert {"overview_page", "input_pipeline_analyzer"} <= set(found["tools"])
    rows = {row.name: row for row in ops(load(marked)).ops}
    kinds = {"TopKV2", "ReverseV2", "Relu", "ReadVariableOp", "AssignSubVariableOp"}
    theirs = kinds & found["operators"].keys()
    assert theirs == kinds & rows.keys()
    assert theirs >= kinds - {"ReverseV2"}  # so cheap that TensorFlow records it in some runs only
    for kind in sorted(theirs):
        calls, self_us = found["operators"][kind]
        assert rows[kind].calls == calls
        assert rows[kind].self_cpu_ns / 1e3 == pytest.approx(self_us, rel=0.01, abs=1.0)


def test_operations_of_a_graph_are_on_the_line_that_called_it(marked: Path) -> None:
    text = (XPLANE / "marked.py").read_text().splitlines()
    called = 1 + next(i for i, line in enumerate(text) if "train(iterator).numpy()" in line)
    rows = {row.name: row for row in ops(load(marked)).ops}
    assert [place.line for place in rows["AssignSubVariableOp"].locations] == [called]
    assert rows["TopKV2"].locations == []  # of the pipeline
    assert any((row.self_cpu_bytes or 0) > 0 for row in rows.values())


def test_the_pipeline_behind_fit_is_reported_by_stage_and_operation(tmp_path: Path) -> None:
    needs.require("tensorflow")
    folder = record(XPLANE / "fit.py", tmp_path / "run")
    answer = json.loads(show(folder, "input", "--json"))
    assert answer["limit"] == "work"
    assert answer["loader"]["share"] > 0.3
    stages = {row["stage"]: row for row in answer["stages"]}
    assert {"Prefetch", "MapAndBatch"} <= stages.keys()
    assert answer["stages"][0]["stage"] == "MapAndBatch"
    assert answer["operations"][0]["stage"] == "TopKV2"
    breakdown = {
        row["category"]: row["share"]
        for row in json.loads(show(folder, "steps", "--json"))["breakdown"]
    }
    assert breakdown["input"] == pytest.approx(answer["loader"]["share"])
    assert sum(breakdown.values()) == pytest.approx(1.0)
    renamed = json.loads(show(folder, "steps", "--scheme", "xprof", "--json"))
    (share,) = (row["share"] for row in renamed["breakdown"] if row["category"] == "Input")
    assert share == pytest.approx(breakdown["input"])


# --- JAX ------------------------------------------------------------------------------------------


def test_operations_that_jax_compiled_are_on_the_lines_that_made_them(tmp_path: Path) -> None:
    needs.require("jax")
    folder = record(XPLANE / "jax_lines.py", tmp_path / "run")
    rows = {row.name: row for row in ops(load(folder)).ops}
    text = (XPLANE / "jax_lines.py").read_text().splitlines()
    (product,) = (1 + index for index, line in enumerate(text) if "images @ weights" in line)
    assert {place.line for place in rows["dot_general"].locations} == {product}
    assert rows["dot_general"].location is not None
    assert rows["dot_general"].location.function == "predict"
    assert {place.line for place in rows["tanh"].locations} == {product + 1}


def test_updates_written_by_hand_have_operators_too(tmp_path: Path) -> None:
    """Nothing reports their steps: neither a compiled function nor an optimizer."""
    needs.require("jax")
    folder = record(PROGRAMS / "jax" / "without_anything.py", tmp_path / "run")
    recorded = windows(load(folder).processes[0])
    assert len(recorded) == 1
    rows = ops(load(folder)).ops
    assert any("matmul" in row.name or "dot_general" in row.name for row in rows)


# --- files of Keras' TensorBoard callback ---------------------------------------------------------


@pytest.mark.parametrize(
    ("flavour", "pause_s"),
    [
        ("keras", "0.05"),
        pytest.param("keras", "0", marks=pytest.mark.nightly),
        pytest.param("tf_keras", "0.05", marks=pytest.mark.nightly),
    ],
)
def test_the_steps_of_a_callbacks_file_last_as_long_as_the_script_says(
    flavour: str, pause_s: str, tmp_path: Path
) -> None:
    for module in ("tensorflow", "tensorboard", flavour):
        needs.require(module)
    program = PROGRAMS / "keras" / "tensorboard_steps.py"
    wall_ms = float(run(sys.executable, program, flavour, pause_s, tmp_path).stdout)
    (path,) = tmp_path.rglob("*.xplane.pb")
    answer = steps(run_of_trace(path))
    assert 9 <= answer.steps <= 11  # tf_keras begins the first mark before the profiler
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(wall_ms, rel=0.25)
