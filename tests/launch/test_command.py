"""Which command is started for the user's command line."""

import stat
import sys
from pathlib import Path

import pytest

from stepscope.errors import InputError
from stepscope.launch import console, owners
from stepscope.launch.command import command_for, own_flags


@pytest.mark.parametrize(
    ("started", "passed_on"),
    [
        ("python -m stepscope run x.py", []),
        ("python /bin/stepscope run -u x.py", []),
        ("python -X dev -Xutf8 -m stepscope", ["-X", "dev", "-Xutf8"]),
        ("python -W error -Wignore -m stepscope", ["-W", "error", "-Wignore"]),
        ("python -OO -uB -m stepscope", ["-O", "-O", "-u", "-B"]),
        ("python -um stepscope", ["-u"]),
        ("python -I -E -s -P -sP /bin/stepscope", []),
        ("python --check-hash-based-pycs never -m stepscope", ["--check-hash-based-pycs", "never"]),
    ],
)  # fmt: skip
def test_flags_that_concern_the_script_are_passed_on(started: str, passed_on: list[str]) -> None:
    assert own_flags(started.split()) == passed_on


def make(path: Path, first_lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(first_lines + "\nprint(1)\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    ("first_lines", "interpreter"),
    [
        ("#!/opt/env/bin/python", ["/opt/env/bin/python"]),
        ("#!/opt/env/bin/python3.11 -sP", ["/opt/env/bin/python3.11", "-sP"]),
        ("#!/bin/sh\n'''exec' \"/long path/bin/python\" \"$0\" \"$@\"\n' '''",
         ["/long path/bin/python"]),
        ("#!/bin/sh\nexec ls", None),
        ("#!/bin/bash", None),
        ("import sys", None),
    ],
)  # fmt: skip
def test_the_interpreter_of_a_command_is_in_its_first_lines(
    first_lines: str, interpreter: list[str] | None, tmp_path: Path
) -> None:
    assert console.interpreter_of(str(make(tmp_path / "tool", first_lines))) == interpreter


def test_env_finds_the_interpreter_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = make(tmp_path / "python3", "#!/bin/sh")
    tool = make(tmp_path / "tool", "#!/usr/bin/env -S python3 -u")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert console.interpreter_of(str(tool)) == [str(python), "-u"]


def test_flags_that_would_keep_recording_out_are_weakened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "tool", f"#!{sys.executable} -I -u")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert console.find("tool").flags == ["-sP", "-u"]


def test_a_command_beside_our_interpreter_is_found_without_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert Path(console.find("pytest").path).parent == Path(sys.executable).parent


def test_the_package_behind_a_console_command_counts_as_the_users() -> None:
    import _pytest

    (folder,) = command_for(["pytest", "--version"], module=False).packages
    # It announced itself from `pytest` in older versions.
    assert folder in (str(Path(_pytest.__file__).parent), str(Path(pytest.__file__).parent))


def test_a_package_that_runs_the_users_script_stays_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "test_x.py", "")
    monkeypatch.chdir(tmp_path)
    assert command_for(["pytest", "-q", "test_x.py"], module=False).packages == ()
    assert command_for(["pytest", "test_x.py"], module=True).packages == ()


def test_a_module_of_the_standard_library_stays_a_library() -> None:
    assert owners.of_module("json.tool", []) == ()


def test_a_namespace_is_searched_for_the_package_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "space" / "real" / "__init__.py", "")
    make(tmp_path / "space" / "real" / "cli.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert owners.package_folders("space.real.cli") == [str(tmp_path / "space" / "real")]


def test_a_package_that_is_not_there_has_no_folder() -> None:
    assert owners.package_folders("no_such_package.cli") == []


def test_a_users_script_may_name_any_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "train", "#!/usr/bin/python2")
    monkeypatch.chdir(tmp_path)
    command = command_for(["train", "--x"], module=False)
    assert command.arguments[-2:] == ["train", "--x"]
    assert command.name == "train"


def test_nothing_typed_is_said_so() -> None:
    with pytest.raises(InputError, match="Nothing to run"):
        command_for([], module=False)
