"""How recording gets into a process: by the environment."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.launch.options import RecordOptions
from stepscope.record import boot

SHIM = str(Path(boot.__file__).parent / "shim")


def role(**variables: str) -> tuple[str, int | None]:
    return boot.role_and_rank({f"STEPSCOPE_{k}" if k.isupper() else k.upper(): v
                               for k, v in variables.items()})  # fmt: skip


def test_the_child_of_the_supervisor_is_the_main_process() -> None:
    assert role(SUPERVISOR=str(os.getppid())) == ("main", None)


def test_anything_below_it_is_a_worker() -> None:
    assert role(SUPERVISOR="1234567") == ("worker", None)


def test_under_a_launcher_the_process_itself_is_the_rank() -> None:
    assert role(MAIN=str(os.getpid()), rank="3", world_size="4") == ("rank", 3)


def test_a_child_of_a_rank_is_its_worker() -> None:
    assert role(MAIN="1234567", RANK="3", rank="3", world_size="4") == ("worker", 3)


def test_a_child_of_a_process_that_turned_out_to_be_a_rank_is_its_worker() -> None:
    assert role(SUPERVISOR="1234567", RANK="1") == ("worker", 1)


def test_a_child_that_was_given_a_rank_is_a_rank() -> None:
    assert role(SUPERVISOR="1234567", rank="1", world_size="2") == ("rank", 1)


def test_the_environment_names_the_run_and_where_we_are() -> None:
    made = boot.environment_for("/runs/a", {"HOME": "/h"})
    assert made["STEPSCOPE_RUN"] == "/runs/a"
    assert (Path(made["STEPSCOPE_HOME"]) / "stepscope" / "record" / "boot.py").is_file()
    assert made["HOME"] == "/h"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, SHIM),
        ({"PYTHONPATH": ""}, SHIM),
        ({"PYTHONPATH": "/a:/b"}, f"{SHIM}:/a:/b"),
        ({"PYTHONPATH": ":/a"}, f"{SHIM}::/a"),
        ({"PYTHONPATH": f"{SHIM}:/a"}, f"{SHIM}:/a"),
    ],
)
def test_the_python_path_gains_one_entry_and_keeps_the_users(
    before: dict[str, str], after: str
) -> None:
    assert boot.environment_for("/runs/a", before)["PYTHONPATH"] == after


def test_a_run_inside_a_run_forgets_the_outer_one() -> None:
    outer = {**boot.environment_for("/runs/a", {}), "STEPSCOPE_RANK": "1", "STEPSCOPE_MAIN": "2"}
    assert boot.environment_for("/runs/b", outer) == boot.environment_for("/runs/b", {})


def test_the_options_are_read_from_the_run(tmp_path: Path) -> None:
    options = RecordOptions(exact=True, include=("a", "b"), steps=5)
    fields = {"options": {**options.to_json(), "of a newer version": 1}}
    (tmp_path / "run.json").write_text(json.dumps(fields))
    assert boot.read_options(str(tmp_path)) == options


def test_notes_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    for text in ("first", "second"):
        boot.leave_note(str(tmp_path), text)
    rows = [json.loads(row) for row in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["first", "second"]


def test_a_note_that_cannot_be_written_is_no_failure() -> None:
    boot.leave_note("/nowhere/at/all", "text")


def interpreter(code: str, run_folder: Path) -> subprocess.CompletedProcess[str]:
    """An interpreter below a run, as the script would start it."""
    environment = boot.environment_for(str(run_folder), os.environ)
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )


def test_an_interpreter_whose_run_is_gone_says_nothing(tmp_path: Path) -> None:
    ended = interpreter("print('fine')", tmp_path / "removed")
    assert (ended.stdout, ended.stderr) == ("fine\n", "")


def test_a_run_that_cannot_be_read_is_one_warning_and_the_program_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{broken")
    ended = interpreter("print('fine')", tmp_path)
    assert ended.stdout == "fine\n"
    assert ended.stderr.startswith("stepscope: not recording this process: JSONDecodeError")
    assert ended.stderr.count("\n") == 1


def test_a_child_that_cannot_load_our_native_core_runs_unrecorded_with_a_note(
    tmp_path: Path,
) -> None:
    package = Path(boot.__file__).parents[1]
    shutil.copytree(
        package, tmp_path / "home" / "stepscope", ignore=shutil.ignore_patterns("*.so", "*.c")
    )
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    environment = boot.environment_for(str(tmp_path / "run"), os.environ)
    environment["STEPSCOPE_HOME"] = str(tmp_path / "home")
    ended = subprocess.run(
        [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True
    )
    assert (ended.stdout, ended.stderr) == ("1\n", "")
    (note,) = (tmp_path / "run" / "notes.jsonl").read_text().splitlines()
    assert "is not recorded" in json.loads(note)["text"]


def test_nothing_of_ours_stays_on_the_import_path(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    seen = "sys.path, sorted(sys.path_importer_cache), 'sitecustomize' in sys.modules"
    ended = interpreter(f"import sys; print({seen})", tmp_path)
    assert SHIM not in ended.stdout
    own = "import sys; print('sitecustomize' in sys.modules)"  # Debian's Python has one
    plain = subprocess.check_output([sys.executable, "-c", own], text=True)
    assert ended.stdout.endswith(plain)


def test_the_housekeepers_of_multiprocessing_are_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    interpreter("from multiprocessing.resource_tracker import main; print(main)", tmp_path)
    assert list(tmp_path.glob("proc-*")) == []
    interpreter("pass", tmp_path)
    assert len(list(tmp_path.glob("proc-*"))) == 1


# With what they load themselves, half of the time that a recorded process once took to begin.
SLOW = {"dis", "enum", "json", "re", "signal", "typing"}


def test_a_recorded_process_begins_without_slow_modules(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": 1, "options": {}}')
    code = "import sys; print(*sys.modules)"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    recorded = interpreter(code, tmp_path)
    assert list(tmp_path.glob("proc-*"))
    assert not SLOW & (set(recorded.stdout.split()) - set(plain.stdout.split()))
