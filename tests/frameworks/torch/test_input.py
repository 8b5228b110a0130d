"""Answers about the input: waits, stages, lines, and what limits it, on loaders of known cost."""

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, record, run, show
from nights import nightly_but
from stepscope.analyze.input.cores import LEAST_IDLE

needs.module("torch")

TORCH = PROGRAMS / "torch"
SLEEP_LINE = 18  # of loading.py


def asked(program: str, out: Path, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        show(record(TORCH / f"{program}.py", out, arguments=arguments), "input", "--json")
    )
    return answer


def stages(answer: dict[str, Any], role: str) -> dict[str, dict[str, Any]]:
    return {row["stage"]: row for row in answer["stages"] if row["process"]["role"] == role}


def number_or_work(answer: dict[str, Any]) -> str:
    """What limits workers that are busy: beside other tests no core may be idle for one more."""
    return "number" if answer["idle_cores"] >= LEAST_IDLE else "work"


@pytest.mark.parametrize("method", nightly_but(["fork"], ["fork", "spawn", "forkserver"]))
def test_busy_workers_are_reported_by_line(tmp_path: Path, method: str) -> None:
    answer = asked("input_slow_items", tmp_path / "run", "1", method)
    loader, workers = answer["loader"], stages(answer, "worker")
    assert (loader["workers"], loader["batch_size"]) == (1, 8)
    assert loader["share"] > 0.5
    assert loader["steps_that_waited"] > loader["steps"] / 2
    assert workers["fetch"]["ms_per_batch"] >= 8 * 3
    assert workers["fetch"]["share"] > 10 * workers["collate"]["share"]
    assert answer["busy"] > 0.8
    assert {"send", "wait for work"} <= workers.keys()
    assert answer["lines"][0]["line"] == SLEEP_LINE
    assert answer["lines"][0]["share"] > 0.5
    assert answer["limit"] == number_or_work(answer)
    assert f"loading.py:{SLEEP_LINE}" in answer["why"]
    assert answer["start_up_ms"] > 0


def test_loading_without_workers_is_reported_for_the_training_process(tmp_path: Path) -> None:
    answer = asked("input_slow_items", tmp_path / "run", "0")
    training = stages(answer, "main")
    assert answer["loader"]["workers"] == 0
    assert answer["loader"]["steps_that_waited"] == answer["loader"]["steps"]
    assert training.keys() == {"fetch", "collate"}
    assert training["fetch"]["ms_per_batch"] >= 8 * 3
    assert answer["lines"][0]["line"] == SLEEP_LINE
    assert not stages(answer, "worker")
    assert "in the training process" in answer["why"]
    assert answer["start_up_ms"] is None
    page = show(tmp_path / "run", "input")
    assert "loading happens in the training process" in page
    assert f"loading.py:{SLEEP_LINE}" in page


def test_waits_are_those_of_the_steps(tmp_path: Path) -> None:
    """No garbage is collected in them here: both views say the same."""
    answer = asked("input_slow_items", tmp_path / "run", "0")
    steps = json.loads(show(tmp_path / "run", "steps", "--json"))
    shares = {row["category"]: row["share"] for row in steps["breakdown"]}
    assert answer["loader"]["share"] == pytest.approx(shares["input"], abs=0.02)
    assert steps["rate"]["samples_per_s"] == pytest.approx(8 * steps["rate"]["per_s"])


def test_a_fast_loader_limits_nothing(tmp_path: Path) -> None:
    answer = asked("input_fast_items", tmp_path / "run")
    assert answer["limit"] == "nothing"
    assert stages(answer, "worker")["wait for work"]["share"] > 0.5


@pytest.mark.nightly  # a share of wall time: by day other tests have the cores
def test_steps_hardly_wait_for_a_fast_loader(tmp_path: Path) -> None:
    asked("input_fast_items", tmp_path / "run")
    each = json.loads(show(tmp_path / "run", "steps", "--each", "--json"))["each"]
    waits = [step["phases"].get("input", 0) / step["duration_ns"] for step in each]
    assert statistics.median(waits) < 0.05


@pytest.mark.nightly
def test_slow_transfer_is_reported(tmp_path: Path) -> None:
    answer = asked("input_big_batches", tmp_path / "run")
    assert answer["limit"] == "transfer"
    worker, training = stages(answer, "worker"), stages(answer, "main")
    loaded = worker["fetch"]["ms_per_batch"] + worker["collate"]["ms_per_batch"]
    assert worker["send"]["ms_per_batch"] + training["get"]["ms_per_batch"] > loaded


def test_workers_that_start_in_every_epoch_are_reported(tmp_path: Path) -> None:
    answer = asked("input_short_epochs", tmp_path / "run")
    assert answer["limit"] == "start-up"
    assert "persistent_workers" in answer["why"]
    assert answer["start_up_ms"] >= 250
    assert "prepare" not in [line["function"] for line in answer["lines"]]


def test_work_in_a_library_is_reported_by_its_function(tmp_path: Path) -> None:
    answer = asked("input_library_items", tmp_path / "run")
    assert answer["library"][0]["function"] == "dumps"
    assert answer["library"][0]["file"].endswith("json/__init__.py")
    assert answer["library"][0]["share"] > 0.5


def test_busy_workers_show_the_line_of_the_function_they_call(tmp_path: Path) -> None:
    answer = asked("input_busy_items", tmp_path / "run", "2")
    assert answer["lines"][0]["function"] == "weigh"
    assert answer["limit"] in ("work", "number")  # whether a core is idle depends on the machine


def test_accelerates_loader_is_seen(tmp_path: Path) -> None:
    needs.module("accelerate")
    answer = asked("input_accelerate", tmp_path / "run")
    assert answer["loader"]["workers"] == 1
    assert answer["loader"]["batch_size"] == 4
    assert stages(answer, "worker")["fetch"]["ms_per_batch"] >= 4 * 3


def test_pinning_is_one_stage_a_batch(tmp_path: Path) -> None:
    from stepscope.analyze.input.loaders import stage_spans
    from stepscope.store.reader import open_run

    recorded = open_run(record(TORCH / "input_pinning.py", tmp_path / "run"))
    assert recorded.main is not None
    assert len(stage_spans(recorded.main, "pin memory")) == 5


def test_a_run_without_a_loader_says_so(tmp_path: Path) -> None:
    answer = asked("input_pinning", tmp_path / "run")
    assert answer["loader"] is None
    assert "DataLoader" in answer["reason"]
    assert "DataLoader" in show(tmp_path / "run", "input")


@pytest.mark.nightly
def test_the_process_asked_for_comes_with_its_workers(tmp_path: Path) -> None:
    asked("input_slow_items", tmp_path / "run", "1", "fork")
    main = json.loads(show(tmp_path / "run", "processes", "--json"))["processes"][0]["process"]
    answer = json.loads(show(tmp_path / "run", "input", "--json", "--process", str(main["pid"])))
    assert "fetch" in stages(answer, "worker")
    stepscope = (sys.executable, "-m", "stepscope", "show", tmp_path / "run", "input")
    nobody = run(*stepscope, "--process", "1", check=False)
    assert nobody.returncode != 0
    assert "has no process 1" in nobody.stderr


def test_only_the_loader_that_is_trained_from_counts(tmp_path: Path) -> None:
    answer = asked("input_two_loaders", tmp_path / "run")
    assert (answer["loader"]["workers"], answer["loader"]["batch_size"]) == (1, 8)
    assert stages(answer, "worker")["fetch"]["ms_per_batch"] >= 8 * 3
    assert answer["limit"] == number_or_work(answer)
