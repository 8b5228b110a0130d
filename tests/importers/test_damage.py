"""Traces that are damaged, or made to harm: what can be read is read, and what was left out is
counted and said."""

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from damage import damaged
from small_traces import (
    event,
    rank_trace,
    stacks_trace,
    tensorflow_json,
    viztracer_json,
    write_json,
    write_pstats,
    write_snapshot,
    write_xplane,
)
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.traces.foreign import load_any
from stepscope.cli.main import main
from stepscope.errors import StepscopeError
from stepscope.importers.importer import importer_of, importers
from stepscope.importers.trace import Trace
from stepscope.store import lprof

BYTES_AT_MOST = 500 * 2**20
_ASK = """
import resource, sys
from stepscope.cli.main import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""
_EVENT = b'{"ph":"X","name":"a","cat":"cpu_op","ts":1,"dur":1,"pid":1,"tid":1},'


def read(path: Path) -> Trace:
    return importer_of(path).read(path)


# --- one thing wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["soon", 1e300, -1e300, None, [1], {"a": 1}, True, "1e999", ""])
def test_a_time_that_is_none_costs_its_event_and_is_said(wrong: object, tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "t.json",
        [event("good", 0, 10), event("bad", 0, 10, ts=wrong), event("b", 20, 1)],
    )
    trace = read(path)
    kept = [trace.names[name] for name in trace.events["name"].tolist()]
    assert kept == ["good", "b"]
    assert any(
        "1 event has no time: left out" in note or "1 event is damaged and left out" in note
        for note in trace.notes
    )


def test_a_negative_duration_is_none_and_is_said(tmp_path: Path) -> None:
    trace = read(write_json(tmp_path / "t.json", [event("a", 5, -7), event("b", 20, 1)]))
    assert trace.events["duration_ns"].tolist() == [0, 1000]
    assert any("1 event has a negative duration" in note for note in trace.notes)


def test_events_out_of_order_nest_as_in_order(tmp_path: Path) -> None:
    events = json.loads(stacks_trace(tmp_path / "a.json").read_text())["traceEvents"]
    backwards = write_json(tmp_path / "b.json", events[::-1])
    one, other = (load_any(path) for path in (tmp_path / "a.json", backwards))
    assert summary(one).contents == summary(other).contents


def test_events_that_overlap_and_share_their_ids_are_read(tmp_path: Path) -> None:
    same: Any = {"args": {"External id": 1, "correlation": 1}}
    path = write_json(
        tmp_path / "t.json",
        [event("a", 0, 30, **same), event("b", 20, 30, **same),
         event("k", 5, 9, "kernel", **same), event("k", 6, 9, "kernel", **same)],
    )  # fmt: skip
    assert summary(load_any(path)).contents[0] == "2 operators of 2 kinds"


def test_control_sequences_in_names_are_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[31mred\x07\x9b2J"
    path = write_json(tmp_path / "t.json", [event(name, 0, 10), event(name, 0, 5, "kernel", pid=0)])
    for view in ("summary", "ops", "kernels"):
        assert main(["show", str(path), view]) == 0
        said = capsys.readouterr()
        assert not set("\x1b\x07\x9b") & set(said.out + said.err)


# --- bombs ----------------------------------------------------------------------------------------


def bomb(opening: bytes, filling: bytes, size: int) -> bytes:
    """`size` bytes of filling after the opening, gzipped in pieces: as small as that gets."""
    piece = gzip.compress(filling * (2**20 // len(filling)))
    return gzip.compress(opening) + piece * (size // 2**20)


def asked_alone(path: Path) -> subprocess.CompletedProcess[str]:
    """By a process of its own, which ends with the most memory that it had."""
    return subprocess.run(
        [sys.executable, "-c", _ASK, "show", str(path)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("opening", "filling"),
    [
        (b"", b"\0"),
        (b'{"traceEvents": [', b" "),
        pytest.param(b'{"traceEvents": [{"ph": "X", "name": "a', b"a", marks=pytest.mark.nightly),
        pytest.param(b'{"traceEvents": [', _EVENT, marks=pytest.mark.nightly),
        pytest.param(b'{"traceEvents": []', b" ", marks=pytest.mark.nightly),
    ],
    ids=["zeros", "blanks", "a name", "events", "after the list"],
)
def test_a_bomb_stays_in_little_memory_and_the_limit_is_said(
    opening: bytes, filling: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(bomb(opening, filling, 2**30))
    done = asked_alone(path)
    *said, peak_kib = done.stderr.splitlines()
    assert int(peak_kib) * 1024 < BYTES_AT_MOST
    assert "MiB" in done.stdout + "".join(said)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode in (0, 2, 3)


# --- fuzz -----------------------------------------------------------------------------------------


def write_lprof(path: Path) -> Path:
    path.write_bytes(lprof.encode({("train.py", 3, "work"): [(4, 2, 5), (7, 1, 30)]}, 1e-6))
    return path


SEEDS: dict[str, Callable[[Path], Path]] = {
    "stacks.json": stacks_trace,
    "rank0.json": lambda path: rank_trace(path, 0, steps=3),
    "a.prof": write_pstats,
    "a.pickle": write_snapshot,
    "a.lprof": write_lprof,
    "viztracer.json": viztracer_json,
    "host.trace.json.gz": tensorflow_json,
    "a.xplane.pb": write_xplane,
}


def test_every_format_is_damaged_here(tmp_path: Path) -> None:
    """What is beside a trace is damaged in `test_execution_trace.py`."""
    tried = {importer_of(write(tmp_path / name)).label for name, write in SEEDS.items()}
    assert tried == {each.label for each in importers() if not each.is_beside}


def ask_everything(path: Path, seed: int) -> None:
    """Nothing but our own errors; and what is read can be summed up."""
    try:
        run = load_any(path)
        answer = summary(run)
    except StepscopeError:
        return
    assert answer.is_trace, seed
    for process in run.processes:
        assert process.end_ns >= 0, seed


def fuzz(kind: str, tmp_path: Path, seeds: range) -> None:
    content = SEEDS[kind](tmp_path / kind).read_bytes()
    for seed in seeds:
        path = tmp_path / f"{seed}-{kind}"
        path.write_bytes(damaged(content, random.Random(seed)))
        ask_everything(path, seed)
        path.unlink()


@pytest.mark.parametrize("kind", SEEDS)
def test_damage_is_never_a_bug(kind: str, tmp_path: Path) -> None:
    fuzz(kind, tmp_path, range(60))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SEEDS)
def test_much_damage_is_never_a_bug(kind: str, tmp_path: Path) -> None:
    fuzz(kind, tmp_path, range(1_000, 6_000))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SEEDS)
def test_cut_at_any_byte_it_is_never_a_bug(kind: str, tmp_path: Path) -> None:
    content = SEEDS[kind](tmp_path / kind).read_bytes()
    for size in range(len(content)):
        path = tmp_path / f"{size}-{kind}"
        path.write_bytes(content[:size])
        ask_everything(path, size)
        path.unlink()
