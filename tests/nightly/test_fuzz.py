"""Damaged runs and traces: whatever a file holds, it is read as far as possible or refused."""

import gzip
import json
import random
from pathlib import Path

import pytest

from asking import answer as shown
from build import MS, RunBuilder
from nightly.mutations import damaged
from small_traces import write_xplane
from stepscope.analyze.run import load
from stepscope.errors import StepscopeError
from stepscope.importers.kineto.reader import read_kineto
from stepscope.importers.kineto.rows import read_rows
from stepscope.importers.xplane.trace import read_xplane_trace
from stepscope.store import format as fmt
from stepscope.store.format import SpanCategory

NIGHTLY = pytest.mark.nightly
SEEDS_BY_NIGHT = 20  # a million inputs in all


def amounts(by_day: int, by_night: int) -> list[object]:
    """(seed, how many inputs): a few by day."""
    night = [pytest.param(seed, by_night, marks=NIGHTLY) for seed in range(1, 1 + SEEDS_BY_NIGHT)]
    return [(0, by_day), *night]


# --- what is damaged: small, and made here ------------------------------------------------------


def trace_text() -> bytes:
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1,
         "ts": 1, "dur": 90},
        {"ph": "s", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 4},
        {"ph": "f", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 9, "bp": "e"},
    ]  # fmt: skip
    for number in range(6):
        op = {"External id": number, "Input Dims": [[2, 3], []], "Sequence number": number}
        events.append(
            {"ph": "X", "cat": "cpu_op", "name": f"aten::\u00e9mm{number}", "pid": 1, "tid": 1,
             "ts": 10.5 * number, "dur": 9.25, "args": op},
        )  # fmt: skip
    kernel = {"correlation": 3, "stream": 7, "device": 0, "External id": 2}
    events.append(
        {"ph": "X", "cat": "kernel", "name": "gemm<float>", "pid": 0, "tid": "stream 7",
         "ts": "33.5", "dur": 7, "args": kernel},
    )  # fmt: skip
    whole = {"schemaVersion": 1, "baseTimeNanoseconds": 17 * 10**17, "traceEvents": events}
    return json.dumps(whole).encode()


def small_run(path: Path) -> Path:
    run = RunBuilder(path)
    process = run.process()
    code = process.code()
    loop = process.loop(code, 3, 6)
    process.for_loop(loop, 0, [5 * MS] * 12)
    for number in range(12):
        process.span(SpanCategory.FORWARD, number * 5 * MS, number * 5 * MS + MS, name="model")
        process.step((number + 1) * 5 * MS, 8)
    process.lines(code, 1, [(12, MS)] * 6)
    process.open_lines([(process.next_entry_offset(), 50 * MS)])
    function = process.function("train")
    node = process.node(function, process.node(function, line=3), line=4)
    process.sample(node, 0, 60 * MS)
    root = process.root()
    process.open_calls((root, 0), (process.call(root, function, 12, 40 * MS), 5 * MS))
    process.write()
    run.supervisor(60 * MS)
    return path


# --- reading it ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "count"), amounts(2000, 35_000))
def test_the_scanner_of_traces_reads_or_stops(seed: int, count: int) -> None:
    chance, text = random.Random(seed), trace_text()
    events = text[text.index(b"[") + 1 :]
    for _ in range(count):
        content = damaged(events, chance)
        _, end = read_rows(content)
        assert 0 <= end <= len(content)


@pytest.mark.parametrize(("seed", "count"), amounts(60, 4_000))
def test_a_damaged_json_trace_is_read_or_refused(seed: int, count: int, tmp_path: Path) -> None:
    chance, text = random.Random(seed), trace_text()
    for number in range(count):
        zipped = number % 4 == 0
        path = tmp_path / ("t.json.gz" if zipped else "t.json")
        content = damaged(text, chance)
        if zipped:
            content = damaged(gzip.compress(content, 1, mtime=0), chance)
        path.write_bytes(content)
        read_or_refuse(read_kineto, path)


@pytest.mark.parametrize(("seed", "count"), amounts(60, 4_000))
def test_a_damaged_xplane_is_read_or_refused(seed: int, count: int, tmp_path: Path) -> None:
    chance, whole = random.Random(seed), write_xplane(tmp_path / "whole.xplane.pb").read_bytes()
    path = tmp_path / "t.xplane.pb"
    for _ in range(count):
        path.write_bytes(damaged(whole, chance))
        read_or_refuse(read_xplane_trace, path)


@pytest.mark.parametrize(("seed", "count"), amounts(60, 7_000))
def test_a_damaged_run_is_read_or_refused(seed: int, count: int, tmp_path: Path) -> None:
    chance, run = random.Random(seed), small_run(tmp_path / "run")
    files = [path for path in run.rglob("*") if path.is_file()]
    whole = {path: path.read_bytes() for path in files}
    for _ in range(count):
        path = chance.choice(files)
        path.write_bytes(damaged(whole[path], chance))
        read_or_refuse(load, run)
        path.write_bytes(whole[path])


@pytest.mark.parametrize(("seed", "count"), amounts(6, 100))
def test_a_damaged_run_has_answers(seed: int, count: int, tmp_path: Path) -> None:
    chance, run = random.Random(seed), small_run(tmp_path / "run")
    (process,) = run.glob("proc-*")
    for _ in range(count):
        path = process / chance.choice((fmt.EVENTS_FILE, fmt.LINES_FILE, fmt.NAMES_FILE))
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, chance))
        for view in ("steps", "lines", "functions"):
            shown(run, view)
        path.write_bytes(whole)


def read_or_refuse(read: object, path: Path) -> None:
    assert callable(read)
    try:
        read(path)
    except StepscopeError:
        return
