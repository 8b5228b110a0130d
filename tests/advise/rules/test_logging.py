"""What belongs to logging: the writing, and what is done only to prepare it."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import Finding
from stepscope.store.format import SpanCategory

STEPS = 60
TEXT = """def train():
    for batch in loader:
        update(batch)
        record(batch)
def update(batch):
    weights[:] = weights - gradient(batch)
def record(batch):
    entry = [round(value, 6) for value in batch]
    file.write(str(entry))
    os.fsync(file)
"""


def recorded(path: Path, round_ms: int, write_ms: int, sync_ms: int) -> list[Finding]:
    """Steps of 10 ms of training, plus what `record` takes."""
    run = RunBuilder(path)
    process = run.process()
    file = process.file(text=TEXT)
    codes = {name: process.code(name, file=file, first_line=first) for name, first in _FIRST}
    spent = [("update", 6, 10), ("record", 8, round_ms), ("record", 9, write_ms)]
    spent += [("record", 10, sync_ms)]
    step_ns = sum(ms for *_, ms in spent) * MS
    process.for_loop(process.loop(codes["train"], 2, 4), 0, [step_ns] * STEPS)
    functions = {name: process.function(name, line=first) for name, first in _FIRST}
    calls = {"update": 3, "record": 4}
    nodes = {
        (name, line): process.node(
            functions[name], process.node(functions["train"], line=calls[name]), line
        )
        for name, line, _ in spent
    }
    for step in range(STEPS):
        at = step * step_ns
        process.span(SpanCategory.FORWARD, at + MS // 10, at + 4 * MS)
        process.span(SpanCategory.BACKWARD, at + 4 * MS, at + 8 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 8 * MS, at + 10 * MS + MS // 10)
        for name, line, ms in spent:
            process.sample(nodes[name, line], at, ms * MS, count=max(1, ms))
            at += ms * MS
    process.lines(codes["record"], 7, [(0, 0), *((STEPS, ms * MS * STEPS) for *_, ms in spent[1:])])
    process.write()
    return findings(load(run.path)).findings


_FIRST = (("train", 1), ("update", 5), ("record", 7))


def test_what_is_done_to_have_something_to_write_is_logging_too(tmp_path: Path) -> None:
    """6 ms of rounding, 2 of writing and 2 of waiting for the disk: one finding, not three."""
    found = recorded(tmp_path / "run", round_ms=6, write_ms=2, sync_ms=2)
    assert [each.id for each in found] == ["logging-stall"]
    assert found[0].share == pytest.approx(0.5, abs=0.03)
    assert found[0].location is not None
    assert found[0].location.function == "record"


def test_a_function_that_writes_a_little_is_not_there_to_log(tmp_path: Path) -> None:
    found = recorded(tmp_path / "run", round_ms=17, write_ms=1, sync_ms=2)
    assert found[0].id != "logging-stall"


def test_a_print_in_every_step_is_counted_in_every_step(tmp_path: Path) -> None:
    """495 steps of 10 ms: each prints, but in some of them that takes next to nothing."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.step(0, begins=True)
    for number in range(500):
        at_ns = number * 10 * MS
        process.span(SpanCategory.FORWARD, at_ns, at_ns + 5 * MS, name="Net")
        took_ns = 10_000 if number % 5 == 0 else 2 * MS
        process.span(SpanCategory.LOGGING, at_ns + 6 * MS, at_ns + 6 * MS + took_ns, name="print")
        process.step(at_ns + 10 * MS)
    process.write()
    (found,) = [each for each in findings(load(run.path)).findings if each.id == "logging-stall"]
    assert found.title == "Logging in 495 of 495 steps"
    assert "1.60 ms each time" in found.evidence[0]
