"""Opening run folders that are whole, growing, cut off, damaged or none at all."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import permissions
from build import MS, RunBuilder
from nights import nightly_but
from stepscope.analyze.answers import files, memory, processes, regions, steps, summary
from stepscope.analyze.code import lines
from stepscope.analyze.run import load
from stepscope.errors import DataError
from stepscope.store import format as fmt
from stepscope.store.events import Costs, CpuTimes, Memory, Transfers
from stepscope.store.format import EventKind, SpanCategory
from stepscope.store.reader import open_run


def everything_at(path: Path) -> Path:
    """A run with something of every kind."""
    run = RunBuilder(path)
    run.write_json(fmt.SYSTEM_FILE, {"load": 1.0})
    for pid, role in ((100, "main"), (101, "worker")):
        process = run.process(pid=pid, role=role, ticks_per_ns=3, event_cost_ticks=50.0)
        code = process.code(file=process.file(text="def train():\n  for x in y:\n    load()\n"))
        loop = process.loop(code, 2, 3)
        process.for_loop(loop, 0, [2 * MS] * 30)
        name = process.name("open", path="/data/x.npz", code=code, line=3)
        for turn in range(30):
            at_ns = turn * 2 * MS
            process.span(SpanCategory.REGION, at_ns + 10, at_ns + MS, name="augment")
            process.span(SpanCategory.INPUT, at_ns + MS, at_ns + 2 * MS)
            process.opened(name, at_ns + 10, at_ns + MS, writing=turn % 3 == 0)
            process.counter(Memory, at_ns, resident_bytes=2**20 + turn, peak_bytes=2**21)
            process.counter(
                CpuTimes, at_ns, process_ns=at_ns, voluntary_switches=5, involuntary_switches=7
            )
            process.counter(Transfers, at_ns, read_bytes=turn, written_bytes=turn)
            process.counter(Costs, at_ns, slow_ticks=turn, line_events=turn * 10, exit_events=turn)
        offset = process.next_entry_offset()
        process.lines(code, 1, [(1, 0), (31, 10), (30, 60 * MS)], exits=4)
        process.open_lines([(offset + 24, 59 * MS)])
        process.write()
    run.supervisor(ended_ns=80 * MS)
    return path


def ask_everything(path: Path) -> list[bytes]:
    """Every answer as JSON: an answer that cannot be printed is none."""
    run = load(path)
    answers = [
        steps.steps(run, each=True), lines.lines(run), files.files(run), memory.memory(run),
        regions.regions(run), processes.processes(run), summary.summary(run),
    ]  # fmt: skip
    return [msgspec.json.encode(answer) for answer in answers]


def notes_of(path: Path) -> str:
    return "\n".join(summary.summary(load(path)).notes)


def test_a_whole_run_has_no_notes(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    assert notes_of(path) == ""
    assert len(ask_everything(path)) == 7


@pytest.mark.parametrize("what", ["missing", "file", "foreign"])
def test_what_is_no_run_folder_is_refused_with_what_to_do(tmp_path: Path, what: str) -> None:
    path = tmp_path / "elsewhere"
    if what == "file":
        path.write_text("hello")
    elif what == "foreign":
        path.mkdir()
        (path / "notes.txt").write_text("hello")
    with pytest.raises(DataError, match="stepscope run"):
        open_run(path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    RunBuilder(tmp_path / "run", format=fmt.FORMAT_VERSION + 1, command="of another shape")
    with pytest.raises(DataError, match=r"newer stepscope.*pip install --upgrade"):
        open_run(tmp_path / "run")


def test_a_newer_stream_is_refused(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    stream = path / "proc-0-here-100" / fmt.EVENTS_FILE
    data = bytearray(stream.read_bytes())
    data[8:12] = (fmt.FORMAT_VERSION + 1).to_bytes(4, "little")
    stream.write_bytes(data)
    with pytest.raises(DataError, match="newer stepscope"):
        open_run(path)


@pytest.mark.parametrize(
    "name", [fmt.PROCESS_FILE, fmt.NAMES_FILE, fmt.EVENTS_FILE, fmt.LINES_FILE]
)
def test_a_missing_part_is_named(tmp_path: Path, name: str) -> None:
    path = everything_at(tmp_path / "run")
    (path / "proc-0-here-100" / name).unlink()
    assert name in notes_of(path)
    ask_everything(path)


def test_a_child_killed_as_it_started_does_not_take_the_place_of_its_parent(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    torn = path / "proc-0-here-999"
    torn.mkdir()
    (torn / fmt.NAMES_FILE).touch()
    assert steps.steps(load(path)).steps == 30
    assert "process 999: process.json is missing" in notes_of(path)


def test_without_events_the_run_lasted_as_long_as_the_supervisor_saw(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    for name in (fmt.EVENTS_FILE, fmt.PROCESS_FILE):
        (path / "proc-0-here-100" / name).unlink()
    assert summary.summary(load(path)).wall_ns == 130 * MS  # it started 50 ms before recording


def test_without_run_json_the_processes_still_speak(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    (path / fmt.RUN_FILE).unlink()
    assert "run.json is missing" in notes_of(path)
    assert steps.steps(load(path)).steps == 30


def test_reading_stops_at_a_record_that_was_never_finished(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [2 * MS] * 30)
    process.write()
    path = process.folder / fmt.EVENTS_FILE
    data = bytearray(path.read_bytes())
    at = fmt.HEADER.size + 21 * fmt.EVENT.size  # the clock's triple comes first
    data[at : at + 4] = bytes(4)
    path.write_bytes(data)
    opened = open_run(run.path)
    assert sum(map(len, opened.processes[0].events.values())) == 21


def test_a_killed_process_gives_its_running_lines_the_time_up_to_the_end(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process(status="running", ticks_per_ns=2)
    code = process.code(file=process.file(text="a\nb\nc\n"))
    offset = process.next_entry_offset()
    process.lines(code, 1, [(1, 0), (2, 5 * MS), (1, 0)])
    process.open_lines([(offset + 24, 10 * MS), (offset + 48, 12 * MS)])
    process.write(ended_ns=15 * MS)
    run.supervisor(ended_ns=20 * MS, signal="SIGKILL")
    function = lines.lines(load(run.path)).functions[0]
    assert [(row.line, row.ns) for row in function.lines] == [
        (1, 0),
        (2, 5 * MS + 10 * MS),
        (3, 8 * MS),
    ]


def test_without_a_supervisor_the_last_tick_seen_is_the_end(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process(status="running", role="worker")
    process.counter(Memory, 9 * MS, resident_bytes=1)
    process.open_lines([(0, 11 * MS)])
    process.write(ended_ns=3 * MS)
    opened = open_run(run.path).processes[0]
    assert opened.end_ns - opened.start_ns == 11 * MS


def test_a_process_without_a_second_clock_triple_takes_the_rate_it_measured_at_its_start(
    tmp_path: Path,
) -> None:
    path = everything_at(tmp_path / "run")
    stream = path / "proc-0-here-101" / fmt.EVENTS_FILE
    data = bytearray(stream.read_bytes())
    last = data.rindex((fmt.EVENT_TAG | EventKind.CLOCK).to_bytes(4, "little"))
    data[last : last + 4] = bytes(4)
    stream.write_bytes(data)
    worker = next(p for p in open_run(path).processes if p.info.pid == 101)
    assert worker.clock.ns_per_tick == pytest.approx(1 / 3)
    assert worker.end_ns - worker.start_ns == 60 * MS


def test_a_source_name_cannot_lead_out_of_the_run(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    (tmp_path / "secret").write_text("password")
    assert open_run(path).source_lines("../../secret") is None


def test_a_folder_that_still_grows_can_be_read(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    (path / fmt.SUPERVISOR_FILE).unlink()
    file = path / "proc-0-here-100" / fmt.PROCESS_FILE
    fields = json.loads(file.read_text()) | {"status": "running", "ended_ticks": None}
    file.write_text(json.dumps(fields | {"pid": os.getpid(), "host": "elsewhere"}))
    answer = summary.summary(load(path))
    assert answer.ending.how == "running"
    assert answer.steps.steps == 30


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = everything_at(tmp_path / "run")
    (path / "proc-0-here-100" / fmt.EVENTS_FILE).chmod(0)
    with permissions.enforced():
        assert "cannot be read" in notes_of(path)


def damaged(path: Path, chance: random.Random) -> Iterator[str]:
    """Damage one file of the run at random, many times; each time it is as new before."""
    targets = [file for file in sorted(path.rglob("*")) if file.is_file()]
    for _ in range(150):
        target = chance.choice(targets)
        whole = target.read_bytes()
        data = bytearray(whole)
        how = chance.choice(["cut", "flip", "fill", "swap", "ones"])
        # Padding at the end is not worth damaging.
        at = chance.randrange(max(1, len(whole.rstrip(b"\0"))))
        if how == "cut":
            del data[at:]
        elif how == "flip":
            for _ in range(chance.choice([1, 8, 200])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif how == "fill":
            data[at : at + 64] = bytes(chance.randrange(256) for _ in range(64))
        elif how == "swap":
            data = data[at:] + data[:at]
        else:
            data[at : at + 8] = b"\xff" * 8
        target.write_bytes(data)
        yield f"{target.relative_to(path)} {how} at {at}"
        target.write_bytes(whole)


@pytest.mark.parametrize("seed", nightly_but([0], range(4)))
def test_a_run_damaged_anywhere_answers_or_says_that_it_cannot_be_read(
    tmp_path: Path, seed: int
) -> None:
    path = everything_at(tmp_path / "run")
    for damage in damaged(path, random.Random(seed)):
        try:
            ask_everything(path)
        except DataError:
            continue
        except Exception as error:
            raise AssertionError(f"after {damage}") from error


def test_a_run_cut_at_any_record_keeps_the_steps_before(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process(status="running")
    process.for_loop(process.loop(process.code(), 2, 9), 0, [2 * MS] * 40)
    process.write()
    stream = process.folder / fmt.EVENTS_FILE
    whole = stream.read_bytes()
    for kept in range(12, 41):
        stream.write_bytes(whole[: fmt.HEADER.size + (kept + 1) * fmt.EVENT.size + kept])
        assert steps.steps(load(run.path)).steps == kept - 1
    assert "cut off" in notes_of(run.path)


def test_open_calls_without_any_finished_node_are_no_calls(tmp_path: Path) -> None:
    """As a process leaves them that is killed while it makes its first node."""
    process = RunBuilder(tmp_path / "run").process()
    process.open_calls((process.root(), 0))
    process.write()
    path = process.folder / fmt.CALLS_FILE
    content = bytearray(path.read_bytes())
    first = fmt.HEADER.size + fmt.BLOCK.size
    content[first : first + 4] = bytes(4)  # the tag, which is written last
    path.write_bytes(content)
    (read,) = open_run(tmp_path / "run").processes
    assert read.calls.is_recorded
    assert len(read.calls.function) == 0


def test_answers_are_about_the_child_that_trains_if_the_script_only_waits_for_it(
    tmp_path: Path,
) -> None:
    run = RunBuilder(tmp_path / "run")
    for pid, role, trains in ((100, "main", False), (101, "worker", False), (102, "worker", True)):
        process = run.process(pid=pid, role=role)
        if trains:
            process.span(SpanCategory.OPTIMIZER, 0, MS, name="SGD", number=1)
        process.write()
    main = open_run(run.path).main
    assert main is not None
    assert main.info.pid == 102
