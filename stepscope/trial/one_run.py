"""One run of the script in a process of its own, recorded, with or without fixes.

Its standard input is empty, what it prints goes to a file beside the run. When it has ended, or is
stopped, nothing that it started goes on: neither its process group nor whatever left the group.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from stepscope.errors import EnvironmentTrouble
from stepscope.launch import run_folder
from stepscope.launch.about import describe_run
from stepscope.launch.command import Command
from stepscope.launch.options import RecordOptions
from stepscope.launch.supervisor import Ended, write_ending
from stepscope.launch.system import SystemLog
from stepscope.record.boot import environment_for
from stepscope.store import local_folder
from stepscope.store.plain_files import read_plain
from stepscope.trial import orphans
from stepscope.trial.copied_folder import CopiedFolders, InPlace
from stepscope.trial.endings import last_lines, trouble_of
from stepscope.trial.in_script import REPORT_FILE

_GRACE_S: Final = 3.0  # between asking the script to end and killing it
_LOG: Final = "output.txt"
_FIXES: Final = "fixes.json"


class Applied(NamedTuple):
    """A fix as it is to be applied."""

    name: str
    settings: dict[str, Any]


class Report(NamedTuple):
    """What `in_script.py` wrote in the script's process."""

    number: int | None  # the fix's place among those of the run; None: not of a fix
    outcome: str
    what: str


class OneRun(NamedTuple):
    folder: str
    seconds: float
    trouble: str | None  # why it does not count
    last_lines: list[str]  # of what the script printed
    reports: list[Report]


class Program(NamedTuple):
    """The script as it is started each time."""

    command: Command
    typed: list[str]  # as the user typed it, with -m
    place: CopiedFolders | InPlace

    def run(
        self,
        parent: str,
        options: RecordOptions,
        fixes: Sequence[Applied] = (),
        limit_s: float = float("inf"),
    ) -> OneRun:
        """`parent`: a new folder for the run, its log and its fixes."""
        os.makedirs(parent)
        where, arguments = self.place.fresh(self.command.arguments)
        folder = self._make_run(os.path.join(parent, "run"), where, options)
        recorded = local_folder.place_for(folder)
        environment = _environment(recorded, where, os.path.join(parent, _FIXES), fixes)
        log = os.path.join(parent, _LOG)
        started_ns = time.monotonic_ns()
        child = _start(arguments, environment, where, log)
        ended = _watch(child, recorded, started_ns, limit_s)
        seconds = (time.monotonic_ns() - started_ns) / 1e9
        if recorded != folder:
            local_folder.collect_from(recorded, folder)
        trouble = trouble_of(ended, limit_s, log)
        return OneRun(folder, seconds, trouble, last_lines(log), _reports(folder))

    def _make_run(self, folder: str, where: str, options: RecordOptions) -> str:
        os.mkdir(folder)
        fields = describe_run(self.typed, self.command.script, options.to_json())
        fields |= {"cwd": where, "copied_from": self.place.copied_from}
        run_folder.write_run_file(folder, fields)
        return folder


def _environment(run: str, where: str, trial_file: str, fixes: Sequence[Applied]) -> dict[str, str]:
    made = environment_for(run, os.environ)
    made |= {"STEPSCOPE_SUPERVISOR": str(os.getpid()), "PWD": where}
    with open(trial_file, "w", encoding="utf-8") as file:
        json.dump({"fixes": [each._asdict() for each in fixes]}, file)
    return {**made, "STEPSCOPE_TRIAL": trial_file}


def _reports(folder: str) -> list[Report]:
    try:
        written = read_plain(os.path.join(folder, REPORT_FILE))
        rows = [json.loads(line) for line in written.splitlines()]
    except (OSError, ValueError):
        return []
    return [Report(row.get("number"), row["is"], row["what"]) for row in rows]


# --- the process ----------------------------------------------------------------------------------


def _watch(
    child: subprocess.Popen[bytes], run: str, started_ns: int, limit_s: float
) -> Ended | None:
    """To its end; nothing of it is left running."""
    system = SystemLog(run, pid=child.pid)
    try:
        ended = _wait(child, system, time.monotonic() + limit_s)
    finally:
        _stop(child, run)
        system.close()
    write_ending(run, ended or _ended(child.returncode), started_ns)
    return ended


def _start(
    command: list[str], environment: dict[str, str], where: str, log: str
) -> subprocess.Popen[bytes]:
    try:
        with open(log, "wb") as output:
            return subprocess.Popen(
                command,
                env=environment,
                cwd=where,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is ours to handle; and so we can end all of it
            )
    except OSError as cause:
        raise EnvironmentTrouble(f"Cannot start '{command[0]}': {cause.strerror}.") from cause


def _wait(child: subprocess.Popen[bytes], system: SystemLog, until: float) -> Ended | None:
    while True:
        system.look_if_due()
        left_s = until - time.monotonic()
        if left_s <= 0:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            return _ended(child.wait(min(left_s, max(0.01, system.due_s()))))


def _ended(returncode: int) -> Ended:
    return Ended(None, -returncode) if returncode < 0 else Ended(returncode, None)


def _stop(child: subprocess.Popen[bytes], run: str) -> None:
    """First with words, so that loaders remove their shared memory; then for good."""
    try:
        if child.poll() is None:
            _signal(lambda: os.killpg(child.pid, signal.SIGTERM))
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE_S)
    finally:  # also when interrupted a second time
        _signal(lambda: os.killpg(child.pid, signal.SIGKILL))
        for pid in _still_in(run):
            _signal(lambda pid=pid: os.kill(pid, signal.SIGKILL))  # type: ignore[misc]
        child.wait()
        orphans.end()


def _signal(send: Callable[[], None]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send()


def _still_in(run: str) -> Iterator[int]:
    """Processes whose environment names this run: a launcher's ranks have sessions of their own."""
    mark = f"STEPSCOPE_RUN={run}\0".encode()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if entry.isdigit() and mark in _read(f"/proc/{entry}/environ"):
                yield int(entry)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
