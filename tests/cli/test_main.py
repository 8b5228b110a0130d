"""The command line itself: what it loads, what it prints when something is wrong, how it ends."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from stepscope.cli import main as cli
from stepscope.errors import DataError, EnvironmentTrouble, InputError, StepscopeError

HEAVY = {"rich", "msgspec", "numpy", "polars", "stepscope.native._core", "stepscope.analyze"}


def stepscope(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "stepscope", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload, no-any-return]  # options are subprocess.run's


def test_help_lists_every_verb_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from stepscope.cli.main import main; main(['--help']);"
        "print('|'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for verb in cli.VERBS:
        assert f"\n  {verb} " in done.stdout
    assert not HEAVY & set(done.stderr.strip().split("|"))


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help(verb: str) -> None:
    done = stepscope(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: stepscope {verb}")
    assert "Examples:\n" in done.stdout


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        (["train.py", "--epochs", "1"], "To record a script: stepscope run train.py --epochs 1"),
        (["rum", "train.py"], "Did you mean 'run'?"),
        (["profile"], "There are: run, show, compare,"),
    ],
)
def test_a_command_that_is_none_gets_the_one_that_was_meant(
    typed: list[str], advice: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("")
    done = stepscope(*typed, cwd=tmp_path)
    assert done.returncode == InputError.exit_status
    assert done.stderr.startswith(f"stepscope: There is no command '{typed[0]}'. {advice}")
    assert done.stderr.count("\n") == 1


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    @click.command("fail")
    def command() -> None:
        raise error

    monkeypatch.setattr(cli.Verbs, "get_command", lambda *_: command)


@pytest.mark.parametrize(
    "error",
    [InputError("a wrong option"), DataError("a torn file"), EnvironmentTrouble("no space")],
)
def test_an_error_is_one_line_on_stderr_and_its_own_exit_status(
    error: StepscopeError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(monkeypatch, error)
    assert cli.main(["fail"]) == error.exit_status
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"stepscope: {error}\n"


def test_verbose_prints_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(monkeypatch, InputError("a wrong option"))
    assert cli.main(["-v", "fail"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_bug_is_called_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(monkeypatch, ZeroDivisionError("division by zero"))
    assert cli.main(["fail"]) == 70
    assert "A bug in stepscope: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_ends_quietly_with_130(
    error: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fail_with(monkeypatch, error())
    assert cli.main(["fail"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_an_unknown_verb_or_option_is_a_usage_error() -> None:
    done = stepscope("shwo")
    assert done.returncode == 2
    assert "There is no command 'shwo'" in done.stderr
    assert stepscope("show", "--nonsense").returncode == 2


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "stepscope", "doctor", "--json"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 1
