"""stepscope.lightning.Profiler in the place of Lightning's three: their options, what they keep,
the files they write, their warnings and errors."""

import copy
import logging
import os
import pstats
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lightning", reason="Lightning is not installed for this Python")
import torch
from lightning.pytorch import Callback
from lightning.pytorch.callbacks import StochasticWeightAveraging
from lightning.pytorch.demos.boring_classes import BoringModel

from frameworks.running import PROGRAMS, run
from stepscope.errors import InputError
from stepscope.lightning import Profiler

MODES: Any = ("simple", "advanced", "pytorch")


class OtherPath:
    """A path, but neither a string nor a pathlib.Path."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)

    def __str__(self) -> str:
        return "not the path"


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
    run(sys.executable, PROGRAMS / "lightning/spawned_ranks.py", tmp_path)
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
