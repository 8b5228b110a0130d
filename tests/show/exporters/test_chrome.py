"""Chrome's trace of a run: strict JSON in which rows nest, flows have two ends, and times agree."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import needs
from build import BOOT_NS, MS, RunBuilder
from frameworks.running import PROGRAMS, run
from frameworks.running import record as record_program
from show.exporters.recorded import STEPS, stepscope
from show.exporters.traced import (
    HOSTILE,
    assert_flows_have_both_ends,
    assert_nested,
    ns,
    of,
    read,
    row_names,
    two_ranks,
)
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.errors import InputError
from stepscope.importers.kineto.reader import read_kineto
from stepscope.importers.trace import Category
from stepscope.show.exporters import chrome, trace_events
from stepscope.store.events import Windows


def exported(folder: Path, to: Path, **options: Any) -> Path:
    to.write_bytes(b"".join(chrome.export(load(folder), **options)))
    return to


@pytest.fixture
def ranks(tmp_path: Path) -> list[dict[str, Any]]:
    return read(exported(two_ranks(tmp_path / "run"), tmp_path / "t.json"))


def test_rows_nest_and_flows_have_both_ends(ranks: list[dict[str, Any]]) -> None:
    assert_nested(ranks)
    assert assert_flows_have_both_ends(ranks) == 4  # two per rank; the incomplete one is left out


def test_processes_are_named_and_ordered_rank_by_rank(ranks: list[dict[str, Any]]) -> None:
    named = {event["pid"]: event["args"] for event in ranks if event["name"] == "process_name"}
    order = {event["pid"]: event["args"] for event in ranks if event["name"].endswith("sort_index")
             and event["name"].startswith("process")}  # fmt: skip
    by_order = sorted(named, key=lambda pid: order[pid]["sort_index"])
    names = [named[pid]["name"] for pid in by_order]
    assert names[:3] == ["rank 0, here", "worker of rank 0, here", "rank 1, here"]
    assert sorted(names[3:]) == ["GPU 0, rank 0", "GPU 0, rank 1"]
    assert "GPU 5" not in json.dumps(ranks)  # it did nothing


def test_what_was_recorded_is_there_at_its_time(ranks: list[dict[str, Any]]) -> None:
    mine = [event for event in ranks if event["pid"] == 100]
    steps = of(mine, "step")
    assert [step["name"] for step in steps] == [f"step {number}" for number in range(1, 6)]
    assert (ns(steps[1]["ts"]) - BOOT_NS, ns(steps[1]["dur"])) == (10 * MS, 10 * MS)
    assert steps[1]["args"]["samples"] == 32
    phases = {event["name"]: event for event in of(mine, "phase")}
    assert (ns(phases["gc"]["ts"]) - BOOT_NS, ns(phases["gc"]["dur"])) == (6 * MS, 1 * MS)
    assert phases["communication"]["args"] == {
        "name": "all_reduce", "group": "gloo 0", "number": 3,
    }  # fmt: skip
    assert [event["name"] for event in of(mine, "actions")] == ["optimizer_step"]
    assert [(event["name"], ns(event["dur"])) for event in of(mine, "line")] == [
        ("train.py:3", 100_000),
        ("train.py:4", 700_000),
    ]
    resident = next(event for event in mine if event["name"] == "resident memory")
    assert (ns(resident["ts"]) - BOOT_NS, resident["args"]) == (5 * MS, {"bytes": 2**30})
    stages = of([event for event in ranks if event["pid"] == 200], "input stages")
    assert [stage["name"] for stage in stages] == ["fetch", "collate"]


def test_what_overlaps_in_part_goes_to_a_row_of_its_own(ranks: list[dict[str, Any]]) -> None:
    names = row_names(ranks)
    rows = {event["name"]: names[event["pid"], event["tid"]] for event in of(ranks, "regions")}
    assert rows == {
        HOSTILE: "MainThread: regions",
        "inside": "MainThread: regions",
        "across": "MainThread: regions (2)",
    }


def test_operators_and_their_kernels_have_lines(ranks: list[dict[str, Any]]) -> None:
    first = [event for event in ranks if event["ph"] == "X" and ns(event["ts"]) < BOOT_NS + MS]
    found = {event["name"]: event for event in first if event["pid"] != 101}
    assert found["aten::mm"]["args"]["source"] == "train.py:3"
    assert found["gemm"]["args"]["source"] == "train.py:3"
    mm = found["aten::mm"]
    assert (ns(mm["ts"]) - BOOT_NS, ns(mm["dur"])) == (110_125, 50_250)
    assert found["aten::mm"]["args"]["Input Dims"] == [[2, 3], [3, 5]]
    tensors = [event for event in ranks if event["name"] == "memory of tensors (host)"]
    assert [event["args"] for event in tensors] == [{"bytes": 640}] * 2


def test_numbers_that_join_events_are_each_ranks_own(ranks: list[dict[str, Any]]) -> None:
    kernels_there = of(ranks, "kernel")
    assert len({event["pid"] for event in kernels_there}) == 2
    assert len({event["args"]["correlation"] for event in kernels_there}) == 4
    for kernel in kernels_there:
        launch = [each for each in of(ranks, "cuda_runtime")
                  if each["args"]["correlation"] == kernel["args"]["correlation"]]  # fmt: skip
        assert len(launch) == 1


def assert_same_operators(folder: Path, trace: Path) -> None:
    before, after = ops(load(folder)), ops(run_of_trace(trace))

    def figures(answer: Any) -> dict[str, tuple[Any, ...]]:
        return {
            row.name: (row.calls, row.self_cpu_ns, row.total_cpu_ns, row.self_device_ns)
            for row in answer.ops
        }

    assert figures(before)
    assert figures(before) == figures(after)


def test_read_back_the_operators_are_the_same_to_the_nanosecond(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    trace = exported(folder, tmp_path / "t.json", process=100)
    assert_same_operators(folder, trace)
    before = read_kineto(next(folder.glob("proc-0-here-100/ops-1.json")))
    after = read_kineto(trace)
    assert after.notes == []
    mm = [
        int(each.events["start_ns"][each.events["name"] == each.names.index("aten::mm")][0])
        for each in (before, after)
    ]
    assert mm[0] == mm[1]


def test_a_trace_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    for path in folder.glob("proc-*/ops-1.json"):
        path.write_text("no trace")
    events = read(exported(folder, tmp_path / "t.json"))
    assert of(events, "step")
    assert not of(events, "cpu_op")


def test_a_trace_that_is_cut_off_is_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = two_ranks(tmp_path / "run")
    for path in folder.glob("proc-*/ops-1.json"):
        text = path.read_text()
        path.write_text(text[: text.index('"f", "cat": "ac2g"')])
    events = read(exported(folder, tmp_path / "t.json"))
    assert_nested(events)
    assert assert_flows_have_both_ends(events) == 0
    assert len(of(events, "kernel")) == 4


def test_a_run_without_a_process_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no process to export"):
        chrome.export(load(RunBuilder(tmp_path / "run").path))


def test_times_of_long_runs_keep_their_nanoseconds() -> None:
    assert bytes(trace_events.us(123_456_789_012_345_678)) == b"123456789012345.678"
    assert bytes(trace_events.us(-1)) == b"-0.001"
    assert bytes(trace_events.us(1_000)) == b"1.000"


def test_names_that_utf8_cannot_hold_are_spelled_out() -> None:
    event = trace_events.complete("caf\udce9", "region", 1, 1, 0, 1, {})
    (text,) = trace_events.document({}, 0, [event])
    assert json.loads(text)["traceEvents"][0]["name"] == "caf\\udce9"


def test_the_file_is_made_in_pieces_while_events_come() -> None:
    drawn = 0

    def events() -> Iterator[trace_events.Event]:
        nonlocal drawn
        for drawn in range(1, 50_001):
            yield trace_events.complete("an operator", "cpu_op", 1, 1, drawn, 1, {})

    pieces = trace_events.document({}, 0, events())
    first = next(pieces)
    assert drawn < 20_000
    assert len(first) < 2**21
    whole = first + b"".join(pieces)
    assert len(json.loads(whole)["traceEvents"]) == 50_000


# --- a recorded run -------------------------------------------------------------------------------


def test_a_recorded_training_is_a_trace(recorded: Path) -> None:
    said = stepscope("export", "run", "--to", "chrome", folder=recorded)
    assert "run.trace.json" in said
    assert "perfetto" in said
    events = read(recorded / "run.trace.json")
    assert_nested(events)
    assert len(of(events, "step")) == STEPS
    regions = of(events, "regions")
    assert {region["name"] for region in regions} == {'augment, "twice"\nor more'}
    assert len(regions) == STEPS


@pytest.mark.nightly  # by day, operators made by hand are enough
def test_real_operators_come_back_the_same(tmp_path: Path) -> None:
    needs.module("torch")
    program = PROGRAMS / "torch/known_lines.py"
    folder = record_program(program, tmp_path / "run", arguments=("12",))
    trace = tmp_path / "t.json"
    run(sys.executable, "-m", "stepscope", "export", folder, "--to", "chrome", "-o", trace)
    assert_same_operators(folder, trace)
    events = read(trace)
    assert_nested(events)
    assert assert_flows_have_both_ends(events) > 0
    operators = of(events, "cpu_op")
    placed = [event for event in operators if "known_lines.py:" in event["args"].get("source", "")]
    assert len(placed) > 0.9 * len(operators)
    phases = {event["name"] for event in of(events, "phase")}
    assert {"forward", "backward", "optimizer"} <= phases


def test_a_real_devices_kernels_come_back_the_same(tmp_path: Path) -> None:
    source = needs.trace("torch_a100_ddp2_nccl_rank0.json.gz")
    first = read_kineto(source)
    operator = first.of(Category.OP)[0]
    folder = tmp_path / "run"
    process = RunBuilder(folder).process(pid=int(first.threads[operator["thread"]].process))
    name = process.name("name", name="ops-1.json")
    process.event(Windows, name, process.ticks(0), process.ticks(10 * MS))
    process.write(ended_ns=60 * MS)
    (process.folder / "ops-1.json.gz").write_bytes(source.read_bytes())
    trace = exported(folder, tmp_path / "t.json")
    assert_same_operators(folder, trace)
    assert kernels(load(folder)).kernels == kernels(run_of_trace(trace)).kernels
    assert assert_flows_have_both_ends(read(trace)) > 0
