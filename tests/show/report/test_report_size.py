"""The report of a run with two million operators: reduced and small, with a note about that."""

import json
import re
from pathlib import Path

import pytest

import needs
from build import MS, START_NS, WALL_OFFSET_NS, RunBuilder
from stepscope.analyze.run import load
from stepscope.show.exporters.html import export
from traced_window import window

EVENTS = 2_000_000
NAMES = 300
MOST_BYTES = 8_000_000
EVENT = (
    '{{"ph":"X","cat":"cpu_op","name":"aten::op_{name}","pid":100,"tid":100,"ts":{ts},"dur":8,'
    '"args":{{"External id":{id},"Input Dims":[[{dim},4]]}}}}'
)


def big_run(path: Path) -> Path:
    """Steps of 1 s in one window; ten operators in each of 200,000 outer ones."""
    run = RunBuilder(path)
    process = run.process()
    code = process.code(file=process.file(text="x\n" * 9))
    whole_ns = EVENTS * 10_000
    process.step(0, begins=True)
    for end_ns in range(10**9, whole_ns, 10**9):
        process.step(end_ns)
    process.lines(code, 1, [(1, 1000)] * 9)
    window(process, 0, whole_ns)
    process.write(ended_ns=whole_ns + MS)
    head = json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": START_NS + WALL_OFFSET_NS})
    with (process.folder / "ops-1.json").open("w") as file:
        file.write(head[:-1] + ',"traceEvents":[')
        for number in range(EVENTS):
            event = EVENT.format(
                name=number % NAMES, ts=number * 10, id=number + 1, dim=number % 4000
            )
            file.write(("," if number else "") + event)
        file.write("]}")
    return path


@pytest.mark.nightly
@needs.page
def test_two_million_operators_make_a_file_that_opens(tmp_path: Path) -> None:
    page = export(load(big_run(tmp_path / "run")))
    assert len(page) < MOST_BYTES
    found = re.search(rb'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    told = json.loads(found[1])["content"]
    assert any(f"{EVENTS:,}"[:2] in note for note in told["reduced"])
    operators = next(lane for lane in told["timeline"]["lanes"] if lane["kind"] == "operator")
    assert operators["spans"] == EVENTS
    assert sum(operators["count"]) == EVENTS
    assert sum(row["calls"] for row in told["ops"]["ops"]) == EVENTS
