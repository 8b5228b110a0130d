"""Traces that other tools wrote, as a report and in the viewer."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import needs
from show.viewing import viewer
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.cli.main import main
from stepscope.show.report.content import content
from xplane_writer import PlaneWriter, write

US = 1000
BEGAN_NS = 1_700_000_000_000_000_000


def op(name: str, start_us: float, lasted_us: float, **fields: Any) -> dict[str, Any]:
    base = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "args": {}}
    return base | {"ts": start_us, "dur": lasted_us} | fields


def torch_trace(path: Path, *, steps: int = 2) -> Path:
    events: list[dict[str, Any]] = [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": 7,
            "tid": 7,
            "args": {"name": "thread 7 (python)"},
        }
    ]
    for number in range(steps or 1):
        start = 1000 + 100 * number
        if steps:
            name = f"ProfilerStep#{number}"
            events.append(op(name, start, 90, cat="user_annotation"))
        events.append(op("aten::mm", start + 10, 50, args={"External id": number}))
        events.append(op("gemm", start + 20, 40, cat="kernel", pid=0, tid="stream 7",
                         args={"External id": number, "device": 0}))  # fmt: skip
    path.write_text(json.dumps({"baseTimeNanoseconds": BEGAN_NS, "traceEvents": events}))
    return path


def test_a_trace_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    told = content(run_of_trace(torch_trace(tmp_path / "t.json")))
    assert told.trouble == []
    assert told.facts.is_trace
    assert told.summary.steps.steps == 2
    assert told.summary.ending.how != "running"
    assert told.summary.ending.words == "imported trace"
    assert told.summary.started.startswith("2023-11-14")
    assert told.summary.wall_ns == 0
    assert told.timeline is not None
    assert told.timeline.processes == ["t.json"]
    assert (told.timeline.from_ns, told.timeline.to_ns) == (0, 190 * US)
    assert [(lane.thread, lane.title, lane.spans) for lane in told.timeline.lanes] == [
        ("", "steps", 2), ("thread 7 (python)", "operators", 4),
        ("device 0, stream 7", "kernels", 2),
    ]  # fmt: skip


def test_the_steps_of_a_trace_have_one_length(tmp_path: Path) -> None:
    """On the timeline, in the table, and in what the loader's wait is a share of."""
    told = content(run_of_trace(torch_trace(tmp_path / "t.json")))
    assert told.timeline is not None
    assert told.steps is not None
    lane = told.timeline.lanes[0]
    assert lane.lasted == told.steps.duration_ns == [90 * US, 90 * US]


def test_stacks_of_a_trace_are_lanes_of_its_timeline(tmp_path: Path) -> None:
    path = torch_trace(tmp_path / "t.json")
    trace = json.loads(path.read_text())
    for name, start, lasted in (("train.py(3): main", 1000, 190), ("nn.Module: Net_0", 1010, 60)):
        trace["traceEvents"].append(op(name, start, lasted, cat="python_function"))
    path.write_text(json.dumps(trace))
    timeline = content(run_of_trace(path)).timeline
    assert timeline is not None
    (lane,) = (lane for lane in timeline.lanes if lane.kind == "stack")
    assert [timeline.names[each] for each in lane.name] == ["main", "nn.Module: Net_0"]
    assert (lane.lasted, lane.level) == ([190 * US, 60 * US], [0, 1])
    assert lane.place is not None
    assert timeline.places[lane.place[0]].line == 3


def test_a_trace_without_steps_says_so(tmp_path: Path) -> None:
    told = content(run_of_trace(torch_trace(tmp_path / "t.json", steps=0)))
    assert told.trouble == []
    assert told.steps is None
    assert "nothing in the trace marks any" in (told.summary.steps.reason or "")


def test_rows_of_a_tpu_go_by_its_name(tmp_path: Path) -> None:
    device = PlaneWriter("/device:TPU:0")
    device.line(2, "XLA Ops").event("%fusion.2 = f32[8] fusion(p0)", 0, 40)
    told = content(run_of_trace(write(tmp_path / "t.xplane.pb", device)))
    assert told.timeline is not None
    assert [lane.thread for lane in told.timeline.lanes] == ["TPU:0, stream 2"]


@needs.page
def test_a_trace_can_be_exported_as_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, report = torch_trace(tmp_path / "t.json"), tmp_path / "t.html"
    assert main(["export", str(trace), "--to", "html", "-o", str(report)]) == 0
    assert b"ProfilerStep#1" in report.read_bytes()
    assert main(["export", str(trace), "--to", "lprof", "-o", str(report)]) != 0
    assert "has no lines to export" in capsys.readouterr().err


@needs.page
def test_a_trace_can_be_viewed_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    torch_trace(folder / "rank-0.json", steps=3000)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for path, steps in ((folder / "rank-0.json", 3000), (folder, 3000)):
        with viewer(str(path), cwd=tmp_path, env=cache) as view:
            (listed,) = view.ask("/api/runs").json["runs"]
            assert listed["id"] == path.name
            opened = view.run(path.name)
            assert opened["content"]["summary"]["steps"]["steps"] == steps
            assert not opened["is_running"]
            tile = f"/api/tile?run={path.name}&from=0&to={1000 * US}&width=500"
            assert view.ask(tile).json["version"] == opened["version"]
    assert os.listdir(folder) == ["rank-0.json"]
    assert list((tmp_path / "cache").rglob("view.json"))


@needs.page
def test_a_trace_that_changed_is_read_anew(tmp_path: Path) -> None:
    trace = torch_trace(tmp_path / "t.json")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with viewer(str(trace), cwd=tmp_path, env=cache) as view:
        before = view.run("t.json")["version"]
        torch_trace(trace, steps=5)
        assert view.ask("/api/version?run=t.json").json["version"] != before
        assert view.run("t.json")["content"]["summary"]["steps"]["steps"] == 5
