"""Windows of TensorFlow and JAX, exported: to TensorBoard as they are, to a timeline with lines."""

import gzip
import json
from pathlib import Path

from build import MS, START_NS, WALL_OFFSET_NS, RunBuilder
from stepscope.analyze.run import load
from stepscope.show.exporters import chrome, tensorboard
from stepscope.show.exporters.folder import MANIFEST, write_folder
from stepscope.store.events import LineBegins, Windows
from xplane_writer import PlaneWriter, write


def recorded(tmp_path: Path) -> Path:
    """One window from 0 to 10 ms, with line 3 of train.py running."""
    run = RunBuilder(tmp_path / "run")
    process = run.process(pid=100)
    code = process.code("train")
    process.lines(code, 1, [(1, 1000)] * 20)
    process.event(LineBegins, code, process.ticks(0), line=3)
    name = process.name("name", name="ops-1.xplane.pb")
    process.event(Windows, name, process.ticks(0), process.ticks(10 * MS))
    process.write(ended_ns=60 * MS)
    host = PlaneWriter("/host:CPU")
    host.line(100, "python").event("MatMul:MatMul", 1000, 50)
    host.line(2**62, "tf_Compute/1").event("f/Relu:Relu", 2000, 50)
    write(process.folder / "ops-1.xplane.pb", host, start_ns=START_NS + WALL_OFFSET_NS)
    return run.path


def test_tensorboards_profile_plugin_finds_the_file_where_it_looks(tmp_path: Path) -> None:
    run, board = recorded(tmp_path), tmp_path / "board"
    window = run / "proc-0-here-100" / "ops-1.xplane.pb"
    whole = window.read_bytes()
    for _ in range(2):  # the second time in place of the first
        write_folder(str(board), tensorboard.export(load(run)))
        files = {str(path.relative_to(board)) for path in board.rglob("*") if path.is_file()}
        name = "plugins/profile/window_1/here_100.xplane.pb"
        assert files == {name, MANIFEST}
        assert (board / name).read_bytes() == whole
        window.unlink(missing_ok=True)
        Path(f"{window}.gz").write_bytes(gzip.compress(whole))  # as after the run


def test_a_timeline_has_the_operators_with_their_lines(tmp_path: Path) -> None:
    text = b"".join(chrome.export(load(recorded(tmp_path))))
    events = json.loads(text)["traceEvents"]
    found = {event["name"]: event for event in events if event.get("cat") == "cpu_op"}
    assert set(found) == {"MatMul", "Relu"}
    assert found["MatMul"]["args"]["source"] == "train.py:3"
    assert found["Relu"]["dur"] == 50
    assert found["Relu"]["tid"] < 2**53  # more are rounded in a browser
    assert found["Relu"]["tid"] != found["MatMul"]["tid"]
