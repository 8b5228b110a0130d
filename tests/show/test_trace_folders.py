"""Log folders of TensorBoard, and other folders that hold traces or runs: which one is shown."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import needs
from build import RunBuilder
from show.test_foreign_traces import torch_trace
from show.viewing import viewer
from stepscope.analyze.traces.foreign import choose, load_any, traces_in
from stepscope.cli.main import main
from stepscope.errors import DataError
from xplane_writer import PlaneWriter, write

Output = pytest.CaptureFixture[str]
TIMES = ("2026_08_01_10_15_00", "2026_08_01_11_00_00", "2026_07_31_23_59_59")
NEWEST = "2026_08_01_11_00_00"


def xplane(path: Path, name: str = "op") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    device = PlaneWriter("/device:TPU:0")
    device.line(2, "XLA Ops").event(f"%{name}.2 = f32[8] fusion(p0)", 0, 40)
    return write(path, device)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """As `tf.profiler` and Keras' TensorBoard callback leave them, with other files about."""
    logs = tmp_path / "logs"
    for when in TIMES:
        xplane(logs / "train/plugins/profile" / when / "host.xplane.pb")
    (logs / "train/events.out.tfevents.1").write_bytes(b"events")
    (logs / "train/config.json").write_text("{}")
    return logs


def torchs(folder: Path, name: str, *, rank: int | None = None) -> Path:
    """As torch's tensorboard_trace_handler writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = torch_trace(folder / name.removesuffix(".gz"))
    trace: dict[str, Any] = {"schemaVersion": 1}
    if rank is not None:
        trace["distributedInfo"] = {"backend": "gloo", "rank": rank, "world_size": 2}
    text = json.dumps({**trace, **json.loads(path.read_text())})
    path.unlink()
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("below", ["", "train", "train/plugins", "train/plugins/profile"])
def test_the_newest_profile_below_a_log_folder_is_taken(logs: Path, below: str) -> None:
    found = choose(logs / below)
    assert found.path == logs / "train/plugins/profile" / NEWEST
    assert found.words is not None
    assert "the newest of 3 traces" in found.words
    assert TIMES[0] in found.words
    assert [each.name for each in traces_in(found.path)] == ["host.xplane.pb"]


def test_one_that_is_named_is_taken_without_a_word(logs: Path) -> None:
    older = logs / "train/plugins/profile" / TIMES[0]
    for named in (older, older / "host.xplane.pb"):
        assert choose(named) == (named, None)


def test_all_hosts_of_one_time_belong_together_and_their_json_is_left_out(logs: Path) -> None:
    folder = logs / "train/plugins/profile" / NEWEST
    xplane(folder / "other.xplane.pb")
    torch_trace(folder / "host.trace.json")  # as JAX writes it, from the same profile
    assert len(load_any(logs).processes) == 2


def test_of_several_times_in_torchs_folder_the_last_is_taken(tmp_path: Path) -> None:
    torchs(tmp_path, "node_41.1754043300000000000.pt.trace.json")
    last = torchs(tmp_path, "node_42.1754046900000000000.pt.trace.json.gz")
    torchs(tmp_path, "node_43.1623143089861.pt.trace.json")  # in milliseconds, of 2021
    found = choose(tmp_path)
    assert found.path == last
    assert found.words is not None
    assert "the newest of 3 traces" in found.words
    assert len(load_any(tmp_path).processes) == 1


def test_the_last_traces_of_all_ranks_belong_together(tmp_path: Path) -> None:
    for time in ("1754043300000000000", "1754046900000000000"):
        for rank in (0, 1):
            torchs(tmp_path, f"node_{rank}.{time}.pt.trace.json", rank=rank)
    found = choose(tmp_path)
    assert found.path == tmp_path
    assert [each.name[:12] for each in traces_in(found.path)] == ["node_0.17540", "node_1.17540"]
    assert all("1754046900" in each.name for each in traces_in(found.path))
    assert "(2 files)" in (found.words or "")


def test_traces_without_a_time_in_their_names_belong_together(tmp_path: Path) -> None:
    for rank in (0, 1):
        torch_trace(tmp_path / f"rank-{rank}.json")
    assert choose(tmp_path) == (tmp_path, None)
    assert len(traces_in(tmp_path)) == 2


def test_runs_go_before_traces_and_json_of_others(tmp_path: Path, logs: Path) -> None:
    run = RunBuilder(tmp_path / "logs/stepscope-20260801-101500").path
    (logs / "config.json").write_text("{}")
    found = choose(logs)
    assert found.path == run
    assert found.words is not None
    assert "the run in" in found.words


def test_a_folder_with_neither_is_refused_and_says_what_was_looked_for(
    tmp_path: Path, capsys: Output
) -> None:
    (tmp_path / "logs/train").mkdir(parents=True)
    (tmp_path / "logs/train/events.out.tfevents.1").write_bytes(b"events")
    with pytest.raises(DataError, match="no run and no trace"):
        load_any(tmp_path / "logs")
    for words, status in ((["show"], 2), (["export", "--to", "html"], 2), (["view"], 2)):
        assert main([words[0], str(tmp_path / "logs"), *words[1:]]) == status
        assert "looked for '*.xplane.pb', '*.pt.trace.json'" in capsys.readouterr().err


def test_show_says_which_and_what_else_can_be_asked(logs: Path, capsys: Output) -> None:
    assert main(["show", str(logs)]) == 0
    said = capsys.readouterr()
    assert f"stepscope: the newest of 3 traces in '{logs}' is" in said.err
    assert f"stepscope show {logs}/train/plugins/profile/{NEWEST} device" in said.out
    assert main(["show", str(logs / "train"), "kernels", "--json"]) == 0
    assert [row["calls"] for row in json.loads(capsys.readouterr().out)["kernels"]] == [1]


@pytest.mark.parametrize(
    ("steps", "device", "shown"),
    [(2, True, "device-idle"), (2, False, "Steps  2 steps"), (0, False, "operators of")],
)
def test_without_a_view_a_trace_has_a_summary(
    tmp_path: Path, capsys: Output, steps: int, device: bool, shown: str
) -> None:
    path = torch_trace(tmp_path / "t.json", steps=steps)
    trace = json.loads(path.read_text())
    trace["traceEvents"] = [e for e in trace["traceEvents"] if device or e.get("cat") != "kernel"]
    path.write_text(json.dumps(trace))
    assert main(["show", str(path)]) == 0
    assert shown in capsys.readouterr().out


def test_compare_takes_log_folders(tmp_path: Path, capsys: Output) -> None:
    for side in ("before", "after"):
        torchs(tmp_path / side / "version_0", "node_1.1754043300000000000.pt.trace.json")
    sides = [str(tmp_path / side) for side in ("before", "after")]
    assert main(["compare", *sides, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["speedup"] == pytest.approx(1)
    assert said.err.count("stepscope: the trace in") == 2


@needs.page
def test_export_and_view_take_log_folders(logs: Path, tmp_path: Path) -> None:
    report = tmp_path / "t.html"
    assert main(["export", str(logs), "--to", "html", "-o", str(report)]) == 0
    assert b"host.xplane.pb" in report.read_bytes()
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with viewer(str(logs), cwd=tmp_path, env=cache) as view:
        (listed,) = view.ask("/api/runs").json["runs"]
        assert listed["id"] == NEWEST
        assert view.run(NEWEST)["content"]["facts"]["is_trace"]
