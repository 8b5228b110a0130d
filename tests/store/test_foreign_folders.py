"""Run folders from somebody else: links in them are not followed, neither to read nor to write."""

import json
import os
import shutil
from pathlib import Path

import polars
import pytest

from build import MS, RunBuilder
from stepscope.analyze.answers.parquet_tables import write_tables
from stepscope.analyze.answers.run_list import keep_figures, run_entry
from stepscope.analyze.answers.run_version import run_version
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.analyze.traces.windows import windows
from stepscope.launch.run_folder import new_folder
from stepscope.launch.supervisor import add_to_ending
from stepscope.launch.system import SystemLog
from stepscope.record.boot import leave_note
from stepscope.show.report.file import REPORT_FILE, write_report
from stepscope.store import format as fmt
from stepscope.store.events import Windows
from stepscope.store.plain_files import open_plain
from stepscope.store.reader import Run
from stepscope.trial.measured_gains import keep_gains

PROCESS = "proc-0-here-100"
TEXT = "def train():\n    for batch in data:\n        step()\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = RunBuilder(tmp_path / "run", command=["train.py"])
    process = made.process()
    code = process.code(file=process.file(text=TEXT))
    process.for_loop(process.loop(code, 2, 3), 0, [5 * MS] * 30)
    process.lines(code, 1, [(1, 0), (31, MS), (30, 149 * MS)])
    process.write(ended_ns=160 * MS)
    made.supervisor(ended_ns=160 * MS)
    made.write_json(fmt.NOTES_FILE, {"is": "note", "text": "a note", "severity": "warning"})
    return made.path


def linked(run: Path, name: str) -> Path:
    """`name` moved out of the run, with a link in its place: what is there would be valid."""
    outside = run.parent / "outside"
    outside.parent.mkdir(exist_ok=True)
    shutil.move(run / name, outside)
    (run / name).symlink_to(outside)
    return outside


def source_of(run: Run) -> list[str] | None:
    (file,) = run.processes[0].names.files.values()
    return run.source_lines(file.source)


@pytest.mark.parametrize(
    "name",
    [
        fmt.RUN_FILE,
        fmt.SUPERVISOR_FILE,
        fmt.NOTES_FILE,
        f"{PROCESS}/{fmt.PROCESS_FILE}",
        f"{PROCESS}/{fmt.NAMES_FILE}",
        f"{PROCESS}/{fmt.EVENTS_FILE}",
        f"{PROCESS}/{fmt.LINES_FILE}",
    ],
)
def test_a_file_behind_a_link_is_not_read(run: Path, name: str) -> None:
    linked(run, name)
    notes = "\n".join(summary(load(run)).notes)
    assert f"{Path(name).name} cannot be read: links in a run folder are not followed." in notes
    assert "a note" not in notes if name == fmt.NOTES_FILE else "a note" in notes


def test_a_process_behind_a_link_is_left_out_and_named(run: Path) -> None:
    linked(run, PROCESS)
    opened = load(run)
    assert opened.processes == []
    assert f"{PROCESS} is a link: links in a run folder are not followed." in opened.notes


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_source_behind_a_link_is_not_read(run: Path, is_folder: bool) -> None:
    assert source_of(load(run)) == TEXT.split("\n")[:-1]
    (text,) = (run / "sources").iterdir()
    copy = shutil.copytree(run, run.parent / "copy")
    linked(copy, "sources" if is_folder else f"sources/{text.name}")
    assert source_of(load(copy)) is None


def test_a_trace_behind_a_link_is_not_read(tmp_path: Path) -> None:
    made = RunBuilder(tmp_path / "run")
    process = made.process()
    window = process.name("name", name="ops-1.json")
    process.event(Windows, window, process.ticks(0), process.ticks(5 * MS))
    process.write()
    (process.folder / "ops-1.json").write_text('{"traceEvents": []}')
    assert len(windows(load(made.path).processes[0])) == 1
    linked(made.path, f"{process.folder.name}/ops-1.json")
    assert windows(load(made.path).processes[0]) == []


def test_a_run_that_is_reached_through_a_link_is_read(run: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(run)
    opened = load(tmp_path / "latest")
    assert summary(opened).notes == ["a note"]
    assert source_of(opened) == TEXT.split("\n")[:-1]


def test_a_pipe_in_a_run_keeps_nobody_waiting(run: Path) -> None:
    for name in (fmt.RUN_FILE, f"{PROCESS}/{fmt.EVENTS_FILE}"):
        (run / name).unlink()
        os.mkfifo(run / name)
    notes = "\n".join(load(run).notes + load(run).processes[0].notes)
    assert notes.count("cannot be read: it is not a plain file.") == 2
    assert run_version(run)
    assert run_entry("run", run).command == []


def test_files_below_the_working_folder_are_checked_too(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(run, "sources")
    monkeypatch.chdir(run)
    with pytest.raises(OSError, match="not followed"):
        open_plain(f"sources/{'0' * 40}", depth=2)


# --- writing --------------------------------------------------------------------------------------


def trap(run: Path, name: str) -> Path:
    """A file of the user's; the run has a link to it under `name`."""
    outside = run.parent / "precious"
    outside.write_text("years of work")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    return outside


def test_the_report_replaces_a_link_and_not_what_it_leads_to(run: Path) -> None:
    for name in (REPORT_FILE, f".{REPORT_FILE}.{os.getpid()}"):
        precious = trap(run, name)
        write_report(load(run), str(run / REPORT_FILE))
        assert precious.read_text() == "years of work"
        assert not (run / REPORT_FILE).is_symlink()
        assert (run / REPORT_FILE).stat().st_size > 1000


def test_tables_are_not_written_through_a_link(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (run / "tables").symlink_to(elsewhere)
    written = write_tables(load(run))
    assert written.is_relative_to(tmp_path / "cache")
    assert len(polars.read_parquet(written / "steps.parquet")) == 30
    keep_figures(run, summary(load(run)), "verdict")
    assert list(elsewhere.iterdir()) == []
    figures = run_entry("run", run).figures
    assert figures is not None
    assert figures.verdict == "verdict"


def test_figures_behind_a_link_are_not_read(run: Path, tmp_path: Path) -> None:
    keep_figures(run, summary(load(run)), "verdict")
    linked(run, "tables")
    assert run_entry("run", run).figures is None


def test_nothing_is_appended_through_a_link(run: Path) -> None:
    for name in (fmt.NOTES_FILE, fmt.SYSTEM_FILE):
        precious = trap(run, name)
        leave_note(str(run), "a note")
        SystemLog(str(run)).look()
        assert precious.read_text() == "years of work"
        (run / name).unlink()


@pytest.mark.parametrize("name", [fmt.SUPERVISOR_FILE, fmt.MEASURED_FILE])
@pytest.mark.parametrize("half", ["", ".arriving", f".{os.getpid()}"])
def test_what_is_noted_later_is_not_written_through_a_link(run: Path, name: str, half: str) -> None:
    precious = trap(run, name + half)
    add_to_ending(str(run), float64_ratio=2.0)
    keep_gains(str(run), [])
    assert precious.read_text() == "years of work"


def test_the_file_for_git_is_not_written_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stepscope-runs").mkdir()
    (tmp_path / "stepscope-runs" / ".gitignore").symlink_to(tmp_path / "new")
    new_folder("train")
    assert not (tmp_path / "new").exists()


def test_half_a_file_of_a_killed_process_does_not_keep_a_run_from_being_replaced(
    run: Path,
) -> None:
    from stepscope.launch.run_folder import chosen_folder

    for name in (f"{fmt.SUPERVISOR_FILE}.123", f".{REPORT_FILE}.123"):
        (run / name).write_text("half")
    (run / fmt.NOTES_FILE).write_text(json.dumps({}))
    chosen_folder(str(run), force=True)
    assert list(run.iterdir()) == []
