"""stepscope.lightning.Profiler in the place of Lightning's three: their options, what they keep,
the files they write, their warnings and errors."""

import copy
import json
import logging
import os
import pstats
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lightning", reason="Lightning is not installed for this Python")
import torch
from lightning.pytorch import Callback, Trainer
from lightning.pytorch.callbacks import EarlyStopping, StochasticWeightAveraging
from lightning.pytorch.demos.boring_classes import BoringModel, ManualOptimBoringModel
from lightning.pytorch.loggers import CSVLogger

import needs
from frameworks.running import PROGRAMS, run
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.errors import InputError
from stepscope.lightning import Profiler
from stepscope.views import VIEWS

MODES: Any = ("simple", "advanced", "pytorch")
TOO_FEW = "not enough steps to properly record traces"


class OtherPath:
    """A path, but neither a string nor a pathlib.Path."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)

    def __str__(self) -> str:
        return "not the path"


@pytest.fixture(autouse=True)
def quiet_trainers() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        yield


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., Any]:
    """A training of Lightning's smallest model; returns the trainer."""

    def trained(
        profiler: Any, stage: str = "fit", model: Any = None, warns: bool = False, **options: Any
    ) -> Any:
        quiet: dict[str, Any] = {
            "enable_progress_bar": False,
            "enable_model_summary": False,
            "logger": False,
        }
        quiet |= {"enable_checkpointing": False, "accelerator": "cpu", "max_epochs": 1}
        trainer = Trainer(default_root_dir=tmp_path, profiler=profiler, **{**quiet, **options})
        model = model or BoringModel()
        model.predict_dataloader = model.train_dataloader
        with warnings.catch_warnings():
            if not warns:
                warnings.simplefilter("ignore")
            getattr(trainer, stage)(model)
        return trainer

    return trained


def traces_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.pt.trace.json"))


def names_of(profiler: Any) -> set[str]:
    return {event.name for event in profiler.function_events}


# --- all modes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_without_a_folder_the_trainers_is_taken(
    mode: Any, train: Callable[..., Any], tmp_path: Path
) -> None:
    profiler = Profiler(mode, filename="perf")
    assert profiler.dirpath is None
    trainer = train(profiler, fast_dev_run=1)
    assert profiler.dirpath == trainer.log_dir == str(tmp_path)
    assert "FIT Profiler Report" in (tmp_path / "fit-perf.txt").read_text()


def test_a_folder_is_made_and_may_be_any_kind_of_path(tmp_path: Path) -> None:
    for mode in MODES:
        folder = tmp_path / mode / "new"
        profiler = Profiler(mode, dirpath=OtherPath(folder), filename="perf")
        with profiler.profile("training_step"):
            torch.ones(3).sum()
        with warnings.catch_warnings(action="ignore"):
            profiler.describe()
        assert (folder / "perf.txt").read_text()


def test_a_folder_that_cannot_be_written_costs_the_file_and_not_the_training(
    train: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    modes: Any = (("advanced", {"dump_stats": True}), ("pytorch", {}))
    for mode, options in modes:
        profiler = Profiler(mode, dirpath=tmp_path / "taken", **options)
        with pytest.warns(UserWarning, match="not written"):
            train(profiler, warns=True, fast_dev_run=1)
        assert "FIT Profiler Report" in profiler.summary()


@pytest.mark.parametrize("mode", MODES)
def test_it_can_be_copied_after_its_report(mode: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"schedule": None} if mode == "pytorch" else {}
    profiler = Profiler(mode, dirpath=tmp_path, **options)
    profiler.start("on_train_start")
    torch.tensor(1)
    profiler.describe()
    assert copy.deepcopy(profiler).mode == mode


def test_a_callback_that_copies_the_model_copies_the_profiler_too(
    train: Callable[..., Any],
) -> None:
    averaging = StochasticWeightAveraging(swa_lrs=1e-2)
    train(Profiler("advanced"), fast_dev_run=True, callbacks=[averaging])


@pytest.mark.parametrize("mode", MODES)
def test_its_file_is_closed_when_the_training_ends(
    mode: Any, train: Callable[..., Any], tmp_path: Path
) -> None:
    class Ending(Callback):
        def on_fit_end(self, trainer: Any, module: Any) -> None:
            assert trainer.profiler._output_file is None

    profiler = Profiler(mode, dirpath=tmp_path, filename="perf")
    train(profiler, fast_dev_run=1, callbacks=[Ending()])
    assert profiler._output_file is None


@pytest.mark.parametrize(
    ("mode", "options", "words"),
    [
        ("simple", {"dump_stats": True}, "'simple' has no option 'dump_stats'.*mode 'advanced'"),
        ("advanced", {"schedule": None}, "'advanced' has no option 'schedule'.*mode 'pytorch'"),
        ("pytorch", {"extended": True}, "'pytorch' has no option 'extended'"),
        ("pytorch", {"emit_nvtx": True}, "emit_nvtx is not offered"),
        ("pytorch", {"export_to_flame_graph": True}, "stepscope export --to speedscope"),
        ("pytorch", {"schedule": 3}, "schedule=3 cannot be called"),
        ("pytorch", {"schedule": lambda step: step}, "gives 0 for step 0"),
        ("pytorch", {"sort_by_key": "colour"}, "'colour' is not a column"),
    ],
)
def test_what_it_does_not_offer_is_refused_with_a_reason(
    mode: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Profiler(mode, **options)


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("advanced", "recorded_durations"),
        ("pytorch", "profiled_actions"),
        ("simple", "function_events"),
    ],
)
def test_what_another_mode_keeps_is_named_with_that_mode(mode: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} in the mode"):
        getattr(Profiler(mode), name)


# --- simple ---------------------------------------------------------------------------------------


def test_the_duration_of_every_call_is_kept() -> None:
    profiler = Profiler()
    for _ in range(3):
        with profiler.profile("a"), profiler.profile("b"):
            pass
    durations = profiler.recorded_durations
    assert (len(durations["a"]), len(durations["b"]), durations["c"]) == (3, 3, [])
    assert all(a > b > 0 for a, b in zip(durations["a"], durations["b"], strict=True))


def test_starting_twice_and_stopping_what_never_started_are_errors() -> None:
    profiler = Profiler()
    with pytest.raises(ValueError, match=r"Attempting to stop recording an action \(a\)"):
        profiler.stop("a")
    profiler.start("a")
    with pytest.raises(ValueError, match="Attempted to start a which has already started"):
        profiler.start("a")
    profiler.stop("a")
    with pytest.raises(ValueError, match="Attempting to stop recording"):
        Profiler("advanced").stop("a")


def test_an_action_around_several_stages_ends_without_an_error() -> None:
    profiler = Profiler()
    with profiler.profile("whole"):
        for stage in ("fit", "test"):
            profiler.setup(stage=stage)
            with profiler.profile("step"):
                pass
            profiler.describe()


def test_a_table_that_is_not_extended_has_no_calls_and_percentages() -> None:
    profiler = Profiler(extended=False)
    with profiler.profile("a"):
        pass
    title = next(line for line in profiler.summary().splitlines() if "Action" in line)
    cells = [cell.strip() for cell in title.strip("|").split("|")]
    assert cells == ["Action", "Mean duration (s)", "Total time (s)", "Own time (s)"]


def test_each_stage_prints_one_report(
    train: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    profiler = Profiler()
    with caplog.at_level(logging.INFO, logger="lightning.pytorch.profilers.profiler"):
        train(profiler, fast_dev_run=2).test(BoringModel())
    assert caplog.text.count("Profiler Report") == 2
    assert profiler.recorded_durations["run_training_batch"] == []  # the first stage's


def test_actions_of_the_trainer_are_kept_after_the_fit(train: Callable[..., Any]) -> None:
    profiler = Profiler()
    train(profiler, fast_dev_run=2)
    assert len(profiler.recorded_durations["run_training_batch"]) == 2
    assert "[LightningModule]BoringModel.train_dataloader" in profiler.recorded_durations


@pytest.mark.nightly
def test_every_rank_writes_its_own_file_for_each_stage(tmp_path: Path) -> None:
    profiler = Profiler(dirpath=tmp_path, filename="perf")
    trainer = Trainer(
        default_root_dir=tmp_path, fast_dev_run=2, strategy="ddp_spawn", accelerator="cpu",
        devices=2, profiler=profiler, logger=False,
    )  # fmt: skip
    for stage in ("fit", "validate", "test"):
        getattr(trainer, stage)(BoringModel())
    expected = {f"{stage}-perf-{r}.txt" for stage in ("fit", "validate", "test") for r in (0, 1)}
    assert set(os.listdir(tmp_path)) == expected


# --- advanced -------------------------------------------------------------------------------------


def spin(turns: int) -> int:
    return sum(number % 7 for number in range(turns))


def test_the_profile_of_every_action_is_kept() -> None:
    profiler = Profiler("advanced")
    for _ in range(2):
        with profiler.profile("a"):
            spin(1_000)
    found = {row.code.co_name: row.callcount for row in profiler.profiled_actions["a"].getstats()
             if hasattr(row.code, "co_name")}  # fmt: skip
    assert found["spin"] == 2


def test_statistics_are_dumped_for_pstats_one_file_an_action(tmp_path: Path) -> None:
    profiler = Profiler("advanced", dirpath=tmp_path, dump_stats=True)
    with profiler.profile("outer"):
        spin(100)
        with profiler.profile("in/n:er"):
            spin(200)
    profiler.describe()
    assert {path.name for path in tmp_path.glob("*.prof")} == {"outer.prof", "in_n_er.prof"}
    stats: Any = pstats.Stats(str(tmp_path / "outer.prof"))
    calls = {name: row[0] for (_, _, name), row in stats.stats.items()}
    assert (calls["spin"], calls["<action in/n:er>"]) == (1, 1)


def test_a_dump_of_a_training_has_the_functions_of_its_steps(
    train: Callable[..., Any], tmp_path: Path
) -> None:
    train(Profiler("advanced", filename="perf", dump_stats=True), fast_dev_run=2)
    stats: Any = pstats.Stats(str(tmp_path / "fit-perf-run_training_batch.prof"))
    assert stats.total_calls > 10


# --- pytorch --------------------------------------------------------------------------------------


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
