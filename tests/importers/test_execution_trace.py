"""An Execution Trace lends its shapes to the trace beside it. torch 2.13 wrote both samples, of one
step of a small model on the CPU, with the shapes in both: the one is compared with the other."""

import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from damage import damaged
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.traces.foreign import load_any
from stepscope.cli.main import main
from stepscope.importers.beside import read_file
from stepscope.importers.trace import Category, Trace

SAMPLES = Path(__file__).parent / "samples"
SHAPES = ("Input Dims", "Input type", "Concrete Inputs", "Input Strides")
BESIDE = "execution-trace.json.gz"


def kineto() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((SAMPLES / "kineto.json.gz").read_bytes()))
    return found


def without_shapes(path: Path, *, rename: str = "") -> Path:
    content = kineto()
    for event in content["traceEvents"]:
        for key in SHAPES:
            event.get("args", {}).pop(key, None)
        event["name"] = event["name"].replace(rename or "\0", "another")
    path.write_text(json.dumps(content))
    return path


def both(folder: Path, **how: str) -> Path:
    shutil.copy(SAMPLES / BESIDE, folder)
    return without_shapes(folder / "kineto.json", **how)


def read(path: Path) -> Trace:
    return read_file(path)


def shapes_of(trace: Trace) -> list[tuple[str, Any, Any, Any]]:
    events = trace.of(Category.OP)
    found = zip(events["name"].tolist(), events["shapes"].tolist(), strict=True)
    of_events = [(trace.names[name], trace.shapes[number]) for name, number in found]
    return [(name, *map(_plain, (s.dims, s.types, s.concrete))) for name, s in of_events]


def _plain(text: str) -> Any:
    return json.loads(text) if text else None


def test_the_shapes_are_those_that_the_profiler_writes(tmp_path: Path) -> None:
    expected = shapes_of(read(SAMPLES / "kineto.json.gz"))
    trace = read(both(tmp_path))
    found = shapes_of(trace)
    known = [pair for pair in zip(found, expected, strict=True) if pair[1][1]]
    assert len(known) > 40
    for mine, theirs in known:
        assert mine == theirs
    assert any(BESIDE in note and "have their shapes from" in note for note in trace.notes)


def test_operators_have_flops_then(tmp_path: Path) -> None:
    with_them = ops(load_any(SAMPLES / "kineto.json.gz"), by_shape=True)
    filled = ops(load_any(both(tmp_path)), by_shape=True)
    flops = [sum(row.flops or 0 for row in answer.ops) for answer in (with_them, filled)]
    assert flops[0] == flops[1] > 0


def test_a_trace_with_shapes_keeps_its_own(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / BESIDE, tmp_path)
    shutil.copy(SAMPLES / "kineto.json.gz", tmp_path)
    trace = read(tmp_path / "kineto.json.gz")
    assert trace.notes == []


def test_an_operator_of_another_name_gets_no_shape(tmp_path: Path) -> None:
    trace = read(both(tmp_path, rename="aten::addmm"))
    found = {name: dims for name, dims, _, _ in shapes_of(trace)}
    assert found["another"] is None
    assert found["aten::relu"] == [[2, 4, 4, 4]]


def test_the_older_schema_is_read_too(tmp_path: Path) -> None:
    content = json.loads(gzip.decompress((SAMPLES / BESIDE).read_bytes()))
    content["schema"] = "1.0.1"
    for node in content["nodes"]:
        inputs = node.pop("inputs")
        node["rf_id"] = next(each["value"] for each in node.pop("attrs") if each["name"] == "rf_id")
        node |= {"inputs": inputs["values"], "input_shapes": inputs["shapes"]}
        node["input_types"] = inputs["types"]
    (tmp_path / "et.json").write_text(json.dumps(content))
    new, old = tmp_path / "new", tmp_path
    new.mkdir()
    assert shapes_of(read(without_shapes(old / "k.json"))) == shapes_of(read(both(new)))


def test_a_damaged_one_is_said_and_the_trace_is_shown(tmp_path: Path) -> None:
    path = both(tmp_path)
    (tmp_path / BESIDE).write_bytes(b'{"schema": "1.1.1", "nodes": [{"id"')
    trace = read(path)
    assert len(trace.events) > 0
    assert any("damaged Execution Trace" in note for note in trace.notes)


def test_alone_it_says_what_it_is_and_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(SAMPLES / BESIDE), "ops"]) == 2
    said = capsys.readouterr().err
    assert "is an Execution Trace of torch" in said
    assert "Put it beside" in said


def test_in_a_folder_it_is_no_rank(tmp_path: Path) -> None:
    both(tmp_path)
    run = load_any(tmp_path)
    assert [process.info.role for process in run.processes] == ["main"]


def test_import_keeps_it_beside_its_trace(tmp_path: Path) -> None:
    path, run = both(tmp_path), tmp_path / "run"
    assert main(["import", str(path), str(tmp_path / BESIDE), "-o", str(run)]) == 0
    assert len(list(run.glob("proc-*"))) == 1
    answer = ops(load_any(run), by_shape=True)
    assert any(row.flops for row in answer.ops)


def fuzz(tmp_path: Path, seeds: range) -> None:
    """Whatever is beside it, the trace is read."""
    content = gzip.decompress((SAMPLES / BESIDE).read_bytes())
    path = without_shapes(tmp_path / "kineto.json")
    for seed in seeds:
        other = tmp_path / f"execution-trace-{seed}.json"
        other.write_bytes(damaged(content, random.Random(seed)))
        assert len(read(path).events) > 0, seed
        other.unlink()


def test_damage_is_never_a_bug(tmp_path: Path) -> None:
    fuzz(tmp_path, range(60))


@pytest.mark.nightly
def test_much_damage_is_never_a_bug(tmp_path: Path) -> None:
    fuzz(tmp_path, range(1_000, 6_000))
