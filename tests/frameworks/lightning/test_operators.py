"""stepscope.lightning.Profiler("pytorch"): which steps are recorded, in tables and as traces."""

import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lightning", reason="Lightning is not installed for this Python")
import torch
from lightning.pytorch import Callback
from lightning.pytorch.callbacks import EarlyStopping
from lightning.pytorch.demos.boring_classes import BoringModel, ManualOptimBoringModel
from lightning.pytorch.loggers import CSVLogger

import needs
from frameworks.running import PROGRAMS, run
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.lightning import Profiler
from stepscope.views import VIEWS

TOO_FEW = "not enough steps to properly record traces"


def traces_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.pt.trace.json"))


def names_of(profiler: Any) -> set[str]:
    return {event.name for event in profiler.function_events}


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize("model", [BoringModel, ManualOptimBoringModel])
def test_steps_of_a_fit_are_recorded_and_written_for_tensorboard(
    steps: int, model: type, train: Callable[..., Any], tmp_path: Path
) -> None:
    profiler = Profiler("pytorch", dirpath=tmp_path, filename="perf")
    train(profiler, fast_dev_run=steps, model=model())
    names = names_of(profiler)
    assert "[pl][profile][Strategy]SingleDeviceStrategy.training_step" in names
    assert "[pl][profile][Strategy]SingleDeviceStrategy.validation_step" in names
    assert "[pl][module]torch.nn.modules.linear.Linear: layer" in names
    first = 1 if steps == 1 else 3
    report = (tmp_path / "fit-perf.txt").read_text()
    for kind in ("training", "validation"):
        assert f"operators of {kind} steps {first} to {steps}" in report
    assert [path.name.split(".")[0] for path in traces_in(tmp_path)] == [
        "fit-perf-training_step", "fit-perf-validation_step",
    ]  # fmt: skip


def test_a_trace_has_the_steps_that_it_says_it_has(
    train: Callable[..., Any], tmp_path: Path
) -> None:
    train(Profiler("pytorch"), limit_train_batches=7, limit_val_batches=0)
    (trace,) = traces_in(tmp_path)
    assert trace.name.startswith("fit-training_step.")
    names = [event.get("name") for event in json.loads(trace.read_text())["traceEvents"]]
    assert {name for name in names if str(name).startswith("ProfilerStep")} == {
        "ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4",
    }  # fmt: skip
    answer = VIEWS["steps"].plain(run_of_trace(trace))
    assert answer.steps == 3


def test_tensorboards_plugin_opens_the_folder(train: Callable[..., Any], tmp_path: Path) -> None:
    needs.require("torch_tb_profiler")
    train(Profiler("pytorch"), limit_train_batches=6, limit_val_batches=0)
    done = run(sys.executable, PROGRAMS / "export/load_tensorboard.py", tmp_path)
    assert "should not intersect" not in done.stderr
    (profile,) = json.loads(done.stdout)["profiles"]
    assert profile["worker"] == "fit-training_step"
    assert profile["steps"] == ["2", "3", "4"]
    assert profile["operators"]["aten::addmm"] == 3


@pytest.mark.parametrize("stage", ["validate", "test", "predict"])
def test_other_stages_have_their_own_steps(
    stage: str, train: Callable[..., Any], tmp_path: Path
) -> None:
    profiler = Profiler("pytorch", dirpath=tmp_path, filename="perf", schedule=None)
    limits = {f"limit_{name}_batches": 2 for name in ("val", "test", "predict")}
    train(profiler, stage, **limits)
    step = {"validate": "validation"}.get(stage, stage)
    assert any(name.endswith(f"{step}_step") for name in names_of(profiler))
    assert (tmp_path / f"{stage}-perf.txt").read_text()
    assert traces_in(tmp_path)[0].name.startswith(f"{stage}-perf")


def test_without_a_schedule_everything_is_recorded() -> None:
    profiler = Profiler("pytorch", schedule=None)
    with profiler.profile("a"):
        a = torch.ones(42)
        with profiler.profile("b"):
            b = torch.zeros(42)
        with profiler.profile("c"):
            a + b
    profiler.describe()
    ours = {"[pl][profile]a", "[pl][profile]b", "[pl][profile]c"}
    operators = {"add", "empty", "fill_", "ones", "zero_", "zeros"}
    assert names_of(profiler) == ours | {f"aten::{name}" for name in operators}


def test_a_schedule_says_which_steps(train: Callable[..., Any], tmp_path: Path) -> None:
    schedule = torch.profiler.schedule(wait=3, warmup=1, active=2)
    profiler = Profiler("pytorch", dirpath=tmp_path, schedule=schedule)
    train(profiler, limit_train_batches=12, limit_val_batches=0)
    assert "operators of training steps 5 to 6" in profiler.summary()
    assert len(traces_in(tmp_path)) == 1


def test_a_script_takes_the_trace_itself(train: Callable[..., Any], tmp_path: Path) -> None:
    seen: list[Any] = []
    train(
        Profiler("pytorch", on_trace_ready=seen.append), limit_train_batches=6, limit_val_batches=0
    )
    train(Profiler("pytorch", on_trace_ready=None), fast_dev_run=5)
    train(Profiler("pytorch", export_to_chrome=False), fast_dev_run=5)
    assert len(seen) == 1
    assert any(event.key == "aten::addmm" for event in seen[0].key_averages())
    assert traces_in(tmp_path) == []


def test_traces_go_to_the_folder_of_the_first_logger(
    train: Callable[..., Any], tmp_path: Path
) -> None:
    loggers = [CSVLogger(tmp_path), CSVLogger(tmp_path / "other")]
    train(Profiler("pytorch"), logger=loggers, limit_train_batches=5)
    assert traces_in(tmp_path / "lightning_logs" / "version_0")


@pytest.mark.parametrize(
    ("limits", "stage", "kind"),
    [
        ({"limit_train_batches": 4, "limit_val_batches": 7}, "fit", "4 training steps"),
        (
            {"limit_train_batches": 7, "limit_val_batches": 4, "num_sanity_val_steps": 0},
            "fit",
            "4 validation steps",
        ),
        ({"limit_train_batches": 7, "limit_val_batches": 2}, "fit", "4 validation steps"),
        ({"limit_val_batches": 4}, "validate", "4 validation steps"),
        ({"limit_test_batches": 4}, "test", "4 test steps"),
        ({"limit_predict_batches": 4}, "predict", "4 predict steps"),
    ],
)
def test_too_few_steps_are_shown_with_a_warning(
    limits: dict[str, int], stage: str, kind: str, train: Callable[..., Any]
) -> None:
    profiler = Profiler("pytorch")
    with pytest.warns(UserWarning, match=f"{kind} ran: {TOO_FEW}"):
        train(profiler, stage, warns=True, **limits)
    shown = kind.split()[1]
    assert re.search(rf"operators of {shown} steps \d to 4", profiler.summary())


def test_enough_steps_need_no_warning(train: Callable[..., Any]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        train(Profiler("pytorch"), warns=True, limit_train_batches=5, limit_val_batches=5)
    assert not [each for each in seen if TOO_FEW in str(each.message)]


def test_two_callbacks_of_one_kind_are_told_apart(train: Callable[..., Any]) -> None:
    profiler = Profiler("pytorch")
    monitors = ("val_loss", "train_loss")
    stoppers = [EarlyStopping(name, check_on_train_epoch_end=False) for name in monitors]
    train(profiler, fast_dev_run=1, callbacks=stoppers)
    for name in monitors:
        action = (
            f"[Callback]EarlyStopping{{'monitor': '{name}', 'mode': 'min'}}.on_validation_start"
        )
        assert f"[pl][profile]{action}" in names_of(profiler)


def test_the_table_takes_torchs_own_options(tmp_path: Path) -> None:
    widths = []
    for options in ({"max_name_column_width": 1}, {"max_name_column_width": 5}, None):
        profiler = Profiler("pytorch", schedule=None, table_kwargs=options)
        with profiler.profile("a"):
            torch.ones(1)
        profiler.describe()
        widths.append(profiler.summary().count("-"))
    assert widths[0] < widths[1] < widths[2]
    for key in ("row_limit", "sort_by", "self", "nonsense"):
        with pytest.raises(KeyError, match=f"Found invalid table_kwargs key: {key}"):
            Profiler("pytorch", table_kwargs={key: None})


def test_reading_the_events_changes_no_table(train: Callable[..., Any]) -> None:
    profiler = Profiler("pytorch")
    train(profiler, fast_dev_run=5)
    events, report = profiler.function_events, profiler.summary()
    assert len(events) == len(profiler.function_events)
    assert len(events.key_averages()) > 10
    training = report[: report.index("operators of validation")]
    assert "validation_step" not in training
    counts: Any = profiler._counts
    windows = counts._windows
    assert len(events) == sum(len(each.profiler.events()) for each in windows.values())


def test_rows_are_limited_sorted_and_grouped() -> None:
    options: Any = {"row_limit": 2, "sort_by_key": "count", "group_by_input_shapes": True}
    profiler = Profiler("pytorch", schedule=None, **options)
    with profiler.profile("a"):
        for size in (3, 3, 3, 4, 4):
            torch.relu(torch.ones(size))
    rows = [line for line in profiler.summary().splitlines() if "aten::" in line]
    assert len(rows) == 2
    assert "Input Shapes" in profiler.summary()


def test_operators_are_left_out_while_another_torch_profiler_is_at_work() -> None:
    profiler = Profiler("pytorch")
    with torch.profiler.profile() as scripts_own, profiler.profile("run_training_batch"):
        torch.ones(3).sum()
    assert "Another torch profiler" in profiler.summary()
    assert any(event.key == "aten::sum" for event in scripts_own.key_averages())


def test_without_steps_there_is_nothing_to_show() -> None:
    profiler = Profiler("pytorch")
    profiler.setup("test")
    with profiler.profile("on_test_start"):
        torch.ones(3)
    assert "No step has run" in profiler.summary()
    assert profiler.function_events is None


def test_a_training_that_fails_leaves_no_profiler_running(train: Callable[..., Any]) -> None:
    class Failing(Callback):
        def on_train_batch_end(self, *_: Any) -> None:
            raise RuntimeError("enough")

    profiler = Profiler("pytorch")
    with pytest.raises(RuntimeError, match="enough"):
        train(profiler, limit_train_batches=5, callbacks=[Failing()])
    train(profiler, limit_train_batches=5, limit_val_batches=0)
    assert "operators of training steps 3 to 5" in profiler.summary()
    assert not torch.autograd._profiler_enabled()  # type: ignore[attr-defined]  # torch's own switch
