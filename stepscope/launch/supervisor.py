"""Starts the script as a child, stays out of its way, and notes how it ended.

The child shares our terminal, process group and inherited descriptors. A signal from the terminal
reaches it anyway and is not forwarded; one that a process sent to us is.
"""

import contextlib
import json
import os
import resource
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, NoReturn

from stepscope.errors import EnvironmentTrouble
from stepscope.launch import signals
from stepscope.launch.system import SystemLog
from stepscope.store.format import SUPERVISOR_FILE
from stepscope.store.plain_files import read_plain, replace_plain

# Python ignores these in every process it runs; the child begins as a shell would start it.
IGNORED_BY_PYTHON: Final = tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
)
_PR_SET_DUMPABLE: Final = 4


class Ended(NamedTuple):
    """How the script ended: by exit or by a signal."""

    exit_status: int | None
    signal: int | None


def supervise(command: Sequence[str], environment: Mapping[str, str], run_folder: str) -> Ended:
    """Run the command to its end. Afterwards our own signals are as they were."""
    started_ns = time.monotonic_ns()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, its status would be lost
    mask = signals.block_all()
    try:
        child = _spawn(command, environment, mask)
        ended = _Supervisor(child, SystemLog(run_folder, pid=child)).wait()
        signals.discard_pending()
    finally:
        signals.restore(mask)
    write_ending(run_folder, ended, started_ns)
    return ended


def end_like(ended: Ended) -> NoReturn:
    """Exit as the script did, without a second core dump."""
    if ended.signal is not None:
        _forbid_core_dump()
        signals.raise_on_ourselves(ended.signal)
        os._exit(128 + ended.signal)  # a signal that does not end a process by default
    raise SystemExit(ended.exit_status)


def _spawn(
    command: Sequence[str], environment: Mapping[str, str], mask: set[signal.Signals | int]
) -> int:
    try:
        return os.posix_spawn(
            command[0],
            list(command),
            dict(environment),
            setsigmask=mask,
            setsigdef=IGNORED_BY_PYTHON,
        )
    except OSError as cause:
        raise EnvironmentTrouble(f"Cannot start '{command[0]}': {cause.strerror}.") from cause


class _Supervisor:
    def __init__(self, child_pid: int, system: SystemLog) -> None:
        self._child = child_pid
        self._system = system
        self._asked_to_stop = False  # from the terminal, and not continued since

    def wait(self) -> Ended:
        while True:
            self._system.look_if_due()
            received = signals.receive(self._system.due_s())
            if received is not None and received.number != signal.SIGCHLD:
                self._pass_on(received)
            # Checked every time: several child ends may come as one SIGCHLD.
            ended = self._ended_or_stopped()
            if ended is not None:
                self._system.close()
                return ended

    def _pass_on(self, received: signals.Received) -> None:
        sender = received.sender_pid
        if received.number in (signal.SIGTSTP, signal.SIGCONT):
            self._asked_to_stop = received.number == signal.SIGTSTP
        if sender is None or sender == os.getpid():
            return
        if not signals.was_sent_from_below(sender, self._child):
            self._send(received.number)

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, number)

    def _ended_or_stopped(self) -> Ended | None:
        pid, status = os.waitpid(self._child, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return None
        if os.WIFSTOPPED(status):
            self._stop_too(os.WSTOPSIG(status))
            return None
        if os.WIFSIGNALED(status):
            return Ended(None, os.WTERMSIG(status))
        return Ended(os.WEXITSTATUS(status), None)

    def _stop_too(self, number: int) -> None:
        """The shell watches us: a stopped script is a stopped job. Not when only the script was
        stopped, by SIGSTOP: whatever did that will continue only the script."""
        if number == signal.SIGSTOP and not self._asked_to_stop:
            return
        handler = None if number == signal.SIGSTOP else signal.getsignal(number)
        signals.raise_on_ourselves(number)
        signals.block_all()
        if handler is not None:
            signal.signal(number, handler)


def write_ending(run_folder: str, ended: Ended, started_ns: int) -> None:
    fields = {
        "pid": os.getpid(),
        "exit_status": ended.exit_status,
        "signal": ended.signal,
        "started_monotonic_ns": started_ns,
        "ended_monotonic_ns": time.monotonic_ns(),
        "ended_realtime_ns": time.time_ns(),
    }
    # No space, or the script removed the folder: the exit status matters more.
    with contextlib.suppress(OSError):
        _write(os.path.join(run_folder, SUPERVISOR_FILE), fields)


def add_to_ending(run_folder: str, **fields: float) -> None:
    """What is only known after the end; nothing if the end itself could not be written."""
    path = os.path.join(run_folder, SUPERVISOR_FILE)
    with contextlib.suppress(OSError, ValueError):
        _write(path, {**json.loads(read_plain(path)), **fields})


def _write(path: str, fields: Mapping[str, object]) -> None:
    replace_plain(path, json.dumps(fields).encode())


def _forbid_core_dump() -> None:
    """The limit alone has no effect if cores are piped to a program."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
