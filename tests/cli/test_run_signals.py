"""Signals under `stepscope run`: each reaches the script once, and nothing is left behind."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from clean_environment import environment
from cli.running import command, finish, program, read_json, start, wait_for_line


def test_a_signal_sent_to_us_reaches_the_script_once(tmp_path: Path) -> None:
    process = start("--quiet", program("count_signals.py"), cwd=tmp_path, stdin=subprocess.PIPE)
    assert wait_for_line(process).startswith("ready")
    process.send_signal(signal.SIGINT)
    assert wait_for_line(process) == "{'SIGINT': 1}"
    process.send_signal(signal.SIGTERM)
    assert wait_for_line(process) == "{'SIGINT': 1, 'SIGTERM': 1}"
    process.send_signal(signal.SIGUSR1)
    assert wait_for_line(process) == "{'SIGINT': 1, 'SIGTERM': 1, 'SIGUSR1': 1}"
    assert process.stdin is not None
    process.stdin.write(b"enough\n")
    process.stdin.flush()
    assert finish(process) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_we_die_of_the_signal_the_script_dies_of(number: signal.Signals, tmp_path: Path) -> None:
    process = start("--quiet", "-o", "run", program("wait_forever.py"), cwd=tmp_path)
    wait_for_line(process)
    process.send_signal(number)
    assert finish(process)[0] == -number
    assert read_json(tmp_path / "run" / "supervisor.json")["signal"] == number


def test_no_orphan_is_left_when_we_are_killed(tmp_path: Path) -> None:
    process = start("--quiet", program("wait_forever.py"), cwd=tmp_path)
    wait_for_line(process)
    process.kill()
    # The script holds the other end of its stdout: when this ends, the script is gone.
    assert finish(process)[:2] == (-signal.SIGKILL, b"")


def test_a_signal_of_the_scripts_own_to_its_group_is_not_sent_back(tmp_path: Path) -> None:
    process = start("--quiet", program("kill_its_group.py"), cwd=tmp_path, start_new_session=True)
    assert wait_for_line(process) == "sent"
    process.send_signal(signal.SIGURG)  # received after SIGTERM: it has the higher number
    assert finish(process) == (0, b"count 1\n", b"")


def test_a_script_that_is_stopped_and_continued_by_its_number_ends_as_usual(
    tmp_path: Path,
) -> None:
    process = start("--quiet", program("count_signals.py"), cwd=tmp_path, stdin=subprocess.PIPE)
    script = int(wait_for_line(process).split()[1])
    os.kill(script, signal.SIGSTOP)
    os.kill(script, signal.SIGCONT)
    process.send_signal(signal.SIGUSR1)
    assert wait_for_line(process) == "{'SIGUSR1': 1}"
    assert process.stdin is not None
    process.stdin.write(b"enough\n")
    assert finish(process)[0] == 0


def test_continuing_us_continues_the_script(tmp_path: Path) -> None:
    process = start("--quiet", program("count_signals.py"), cwd=tmp_path, stdin=subprocess.PIPE)
    script = int(wait_for_line(process).split()[1])
    os.kill(script, signal.SIGSTOP)
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGCONT)
    assert wait_for_line(process) == "{'SIGUSR1': 1}"
    assert process.stdin is not None
    process.stdin.write(b"enough\n")
    assert finish(process)[0] == 0


class Terminal(NamedTuple):
    """A terminal with a shell that runs one job on it."""

    master: int
    shell: subprocess.Popen[bytes]

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)


@pytest.fixture
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    words = command("--quiet", program(request.param))
    shell = subprocess.Popen(
        [sys.executable, program("small_shell.py"), os.ttyname(slave), *words],
        cwd=tmp_path,
        env=environment(),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
    # The job talks on the terminal, the shell through its pipe.
    os.close(slave)
    yield Terminal(master, shell)
    if shell.poll() is None:
        shell.kill()
    finish(shell)
    os.close(master)


@pytest.mark.parametrize("terminal", ["count_signals.py"], indirect=True)
def test_ctrl_c_reaches_the_script_once(terminal: Terminal) -> None:
    assert wait_for_line(terminal.shell).startswith("ready")
    for presses in (1, 2, 3):
        terminal.type(b"\x03")
        assert wait_for_line(terminal.shell) == f"{{'SIGINT': {presses}}}"
    terminal.type(b"enough\n")
    assert wait_for_line(terminal.shell) == "ended with 0"


@pytest.mark.parametrize("terminal", ["wait_forever.py"], indirect=True)
def test_ctrl_c_ends_an_ordinary_script_as_without_us(terminal: Terminal) -> None:
    assert wait_for_line(terminal.shell).startswith("ready")
    terminal.type(b"\x03")
    assert wait_for_line(terminal.shell) == f"ended with {-signal.SIGINT}"


@pytest.mark.parametrize("terminal", ["count_signals.py"], indirect=True)
def test_ctrl_z_stops_the_job_and_the_shell_can_continue_it(terminal: Terminal) -> None:
    assert wait_for_line(terminal.shell).startswith("ready")
    terminal.type(b"\x1a")
    assert wait_for_line(terminal.shell) == "stopped by SIGTSTP"
    terminal.type(b"\x03")
    assert wait_for_line(terminal.shell) == "{'SIGINT': 1}"
    terminal.type(b"enough\n")
    assert wait_for_line(terminal.shell) == "ended with 0"
