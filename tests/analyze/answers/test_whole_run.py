"""The whole run: parts that sum to the wall time, how it ended, and its hottest lines."""

import os
from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load, newest_run
from stepscope.errors import InputError
from stepscope.model import SummaryAnswer
from stepscope.store.format import SpanCategory


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def parts_of(answer: SummaryAnswer) -> dict[str, float]:
    assert sum(part.ns for part in answer.parts) == answer.wall_ns
    return {part.category: part.ns / MS for part in answer.parts}


def test_the_parts_sum_to_the_time_from_process_start_to_its_end(run: RunBuilder) -> None:
    process = run.process()  # the process began 20 ms before recording
    code = process.code()
    epochs, batches = process.loop(code, 2, 9), process.loop(code, 4, 8, 1)
    process.span(SpanCategory.IMPORT, 5 * MS, 35 * MS)
    at_ns, before = 100 * MS, 1
    for _ in range(3):
        process.stamp(epochs, at_ns, before=before)
        at_ns = process.for_loop(batches, at_ns + 2 * MS, [5 * MS] * 10)
        process.span(SpanCategory.CHECKPOINT, at_ns + MS, at_ns + 2 * MS)
        at_ns += 8 * MS
        before = 9
    process.stamp(epochs, at_ns, before=before)
    process.lines(code, 2, [(4, 0), (3, 0), (33, 0), (30, 150 * MS)])
    process.write(ended_ns=at_ns + 10 * MS)
    run.supervisor(ended_ns=at_ns + 15 * MS)
    answer = summary(load(run.path))
    assert parts_of(answer) == {
        "imports": 30,
        "set-up": 20 + 100 - 30 + 2 + 2 + 2,
        "steps": 150,
        "evaluation": 3 * 7,
        "saving": 3 * 1,
        "teardown": 15,
    }


def test_functions_that_write_files_between_steps_are_saving(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    loop = process.loop(code, 2, 9)
    process.lines(code, 2, [(32, 0), (30, 300 * MS)])
    save = process.name("open", path="/m.npz", code=process.code("save", first_line=30), line=31)
    for epoch in range(2):
        at_ns = epoch * 200 * MS
        process.for_loop(loop, at_ns, [10 * MS] * 15, activation=at_ns)
        process.opened(save, at_ns + 152 * MS, at_ns + 172 * MS, writing=True)
    process.write(ended_ns=400 * MS)
    parts = parts_of(summary(load(run.path)))
    assert parts["saving"] == 40
    assert parts["steps"] == 300


def test_a_run_without_steps_is_imports_and_set_up(run: RunBuilder) -> None:
    process = run.process()
    process.span(SpanCategory.IMPORT, 0, 30 * MS)
    process.write(ended_ns=80 * MS)
    run.supervisor(ended_ns=90 * MS, exit_status=3)
    answer = summary(load(run.path))
    assert parts_of(answer) == {
        "imports": 30, "set-up": 80, "steps": 0, "evaluation": 0, "saving": 0, "teardown": 0,
    }  # fmt: skip
    assert (answer.ending.how, answer.ending.exit_status) == ("exited", 3)


def test_a_recording_that_came_and_went_divides_only_its_own_time(run: RunBuilder) -> None:
    run.process(status="stopped").write(ended_ns=80 * MS)
    assert summary(load(run.path)).wall_ns == 80 * MS


def test_a_killed_script_says_by_what(run: RunBuilder) -> None:
    run.process(status="running").write(ended_ns=80 * MS)
    run.supervisor(ended_ns=90 * MS, signal=9)
    answer = summary(load(run.path))
    assert (answer.ending.how, answer.ending.signal) == ("killed", "SIGKILL")
    assert answer.wall_ns == 110 * MS


@pytest.mark.parametrize(
    ("status", "seen", "words"),
    [
        ("running", {"signal": 9}, "killed by SIGKILL"),
        ("ended", {"exit_status": 3}, "ended with exit status 3"),
        ("ended", None, "ended by itself"),
        ("stopped", None, "recording stopped before it ended"),
        ("running", None, "still running"),
        (None, None, "how it ended is not known"),
    ],
)
def test_how_it_ended_is_said_in_words(
    run: RunBuilder, status: str | None, seen: dict[str, int] | None, words: str
) -> None:
    """Without a supervisor, what the process wrote last counts."""
    if status is not None:
        run.process(status=status, pid=os.getpid()).write(ended_ns=80 * MS)
    if seen is not None:
        run.supervisor(ended_ns=90 * MS, **seen)
    assert summary(load(run.path)).ending.words == words


def test_a_line_that_passes_its_time_on_is_not_the_hottest(run: RunBuilder) -> None:
    text = "def load():\n    x = read()\n\ndef main():\n    data = load()\n    fit(data)\n"
    process = run.process()
    file = process.file(text=text)
    process.lines(process.code("load", file=file), 1, [(0, 0), (10, 90 * MS)], calls=10)
    main = process.code("main", file=file, first_line=4)
    process.lines(main, 4, [(0, 0), (10, 91 * MS), (10, 40 * MS)])
    process.write(ended_ns=150 * MS)
    answer = summary(load(run.path))
    assert [(place.line, place.function) for place in answer.hottest[:2]] == [
        (2, "load"),
        (6, "main"),
    ]
    assert answer.hottest_ns[:2] == [90 * MS, 40 * MS]


def test_the_newest_run_is_found_and_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stepscope run"):
        newest_run(tmp_path / "runs")
    for age, name in ((2, "old"), (1, "new"), (3, "older")):
        path = tmp_path / "runs" / name
        RunBuilder(path)
        os.utime(path / "run.json", (10**9 - age, 10**9 - age))
    assert newest_run(tmp_path / "runs").name == "new"
