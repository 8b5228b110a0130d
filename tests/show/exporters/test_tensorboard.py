"""Folders for TensorBoard: by name and content, and as the real torch_tb_profiler loads them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from build import MS, START_NS, WALL_OFFSET_NS, RunBuilder
from frameworks.rank_runs import recorded as record_ranks
from frameworks.running import PROGRAMS, run
from frameworks.running import record as record_program
from show.exporters.recorded import stepscope
from show.exporters.traced import ns, of, read, two_ranks
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load
from stepscope.errors import InputError
from stepscope.show.exporters import tensorboard
from stepscope.show.exporters.folder import write_folder
from stepscope.store.events import Windows

LOAD = PROGRAMS / "export/load_tensorboard.py"
BEGAN = START_NS + WALL_OFFSET_NS


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    folder = two_ranks(tmp_path / "run")
    write_folder(str(tmp_path / "board"), tensorboard.export(load(folder)))
    return tmp_path / "board"


def loaded(folder: Path, *, together: int = 0) -> list[dict[str, Any]]:
    """What the plugin says, in the order of worker and window."""
    needs.require("torch_tb_profiler")
    done = run(sys.executable, LOAD, folder)
    assert "Failed to parse" not in done.stderr
    assert "should not intersect" not in done.stderr
    shown_there = json.loads(done.stdout)
    assert shown_there["together"] == ["DistributedRunProfile"] * together
    profiles: list[dict[str, Any]] = shown_there["profiles"]
    return sorted(profiles, key=lambda profile: (profile["worker"], profile["span"]))


def test_a_file_for_each_rank_named_as_torch_names_them(ranks: Path) -> None:
    assert sorted(path.name for path in ranks.iterdir()) == [
        "export.json",
        f"here_100.{BEGAN}.pt.trace.json",
        f"here_101.{BEGAN}.pt.trace.json",
    ]


def test_our_steps_stand_in_for_those_of_a_schedule(ranks: Path) -> None:
    events = read(ranks / f"here_100.{BEGAN}.pt.trace.json")
    steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
    assert [(step["name"], ns(step["ts"]), ns(step["dur"])) for step in steps] == [
        ("ProfilerStep#1", 0, 10 * MS - 1),
        ("ProfilerStep#2", 10 * MS, 6 * MS - 1),  # up to the window's end
    ]
    assert {(step["pid"], step["tid"]) for step in steps} == {(100, 100)}


def test_steps_of_the_scripts_own_schedule_stay_alone(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    for path in folder.glob("proc-*/ops-1.json"):
        path.write_text(path.read_text().replace('"aten::empty"', '"ProfilerStep#7"'))
    files = dict(tensorboard.export(load(folder)))
    text = files[f"here_100.{BEGAN}.pt.trace.json"].decode()
    assert text.count("ProfilerStep#") == 1


def test_the_plugins_own_words_are_used(ranks: Path) -> None:
    events = read(ranks / f"here_101.{BEGAN}.pt.trace.json")
    assert [event["name"] for event in of(events, "Runtime")] == ["cudaLaunchKernel"] * 2
    assert not of(events, "cuda_runtime")
    assert "enumerate(DataLoader)#_Iter.__next__" in {e["name"] for e in of(events, "cpu_op")}
    assert {event["ph"] for event in events if event.get("cat") == "forward_backward"} == {"s", "f"}


def test_one_process_can_be_asked_for(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    names = [name for name, _ in tensorboard.export(load(folder), process=101)]
    assert names == [f"here_101.{BEGAN}.pt.trace.json", "export.json"]


def test_the_plugin_shows_steps_loader_kernels_and_ranks(ranks: Path) -> None:
    profiles = loaded(ranks)
    assert [profile["worker"] for profile in profiles] == ["here_100", "here_101"]
    for profile in profiles:
        assert profile["steps"] == ["1", "2"]
        assert profile["costs"]["DataLoader"] == 450  # 900 us in one of two steps
        assert profile["costs"]["Kernel"] == 50  # 80 and 20 us
        assert profile["operators"]["aten::mm"] == 2
        assert profile["kernels"] == ["gemm"]


def test_without_operators_it_says_how_to_get_them(recorded: Path) -> None:
    said = stepscope("export", "run", "--to", "tensorboard", folder=recorded, status=2)
    assert "has no operators to export" in said
    assert "--ops all" in said
    assert not (recorded / "run-tensorboard").exists()


def test_traces_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    for path in folder.glob("proc-*/ops-1.json"):
        path.write_text("no trace")
    with pytest.raises(InputError, match="has no list of events"):
        tensorboard.export(load(folder))


@pytest.mark.nightly  # by day, the hand-made ranks are enough
def test_a_real_training_in_the_real_plugin(tmp_path: Path) -> None:
    needs.module("torch")
    program = PROGRAMS / "torch/known_lines.py"
    folder = record_program(program, tmp_path / "run", arguments=("12",))
    run(sys.executable, "-m", "stepscope", "export", "run", "--to", "tensorboard", folder=tmp_path)
    profiles = loaded(tmp_path / "run-tensorboard")
    answer = ops(load(folder))
    assert len(profiles) == len(answer.windows)
    assert [len(profile["steps"]) for profile in profiles] == [w.steps for w in answer.windows]
    multiplied = sum(profile["operators"]["aten::mm"] for profile in profiles)
    assert multiplied == next(row.calls for row in answer.ops if row.name == "aten::mm")


@pytest.mark.nightly  # by day, the hand-made ranks are enough
def test_real_ranks_in_the_plugins_view_of_all(tmp_path: Path) -> None:
    needs.module("torch")
    record_ranks("train.py", tmp_path / "run")
    run(sys.executable, "-m", "stepscope", "export", "run", "--to", "tensorboard", folder=tmp_path)
    windows = len(ops(load(tmp_path / "run")).windows)
    profiles = loaded(tmp_path / "run-tensorboard", together=windows)
    assert len({profile["worker"] for profile in profiles}) == 2
    assert all(profile["steps"] for profile in profiles)
    assert all(profile["costs"]["Communication"] > 0 for profile in profiles)


@pytest.mark.nightly
def test_a_real_devices_trace_means_the_same_to_the_plugin(tmp_path: Path) -> None:
    """What the plugin computes from the trace: averages per step in microseconds."""
    source = needs.trace("torch_v100_resnet50_workers0.pt.trace.json.gz")
    process = RunBuilder(tmp_path / "run").process(pid=25738)
    name = process.name("name", name="ops-1.json")
    process.event(Windows, name, process.ticks(0), process.ticks(10 * MS))
    process.write(ended_ns=60 * MS)
    (process.folder / "ops-1.json.gz").write_bytes(source.read_bytes())
    write_folder(str(tmp_path / "board"), tensorboard.export(load(tmp_path / "run")))
    (profile,) = loaded(tmp_path / "board")
    assert profile["costs"] == {
        "Kernel": 98589, "Memcpy": 1915, "Memset": 89, "Runtime": 2908, "DataLoader": 59262,
        "CPU Exec": 13674, "Other": 1156,
    }  # fmt: skip
