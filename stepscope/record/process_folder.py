"""The folder of a recorded process, and the file in it that says which process that was."""

import os
import sys
import time

from stepscope.launch.secrets import mask_command
from stepscope.native import _core
from stepscope.record.engines.calibrate import EventCost, ns_to_ticks
from stepscope.signal_handlers import let_pass
from stepscope.store import file_names
from stepscope.store.plain_files import make_new_folder
from stepscope.store.writer import write_json
from stepscope.typed import Any


class ProcessFolder:
    """Made at the start of a recording, and again in a forked child that records."""

    def __init__(self, run_folder: str, role: str, rank: int | None) -> None:
        self._run_folder = run_folder
        self._role = role
        self._rank = rank
        self._pid = os.getpid()
        self._started_realtime_ns = 0
        self._about: dict[str, Any] = {}
        self.path = ""

    @property
    def is_this_process(self) -> bool:
        """False in a forked child that has recorded nothing so far: this is its parent's folder."""
        return os.getpid() == self._pid

    @property
    def elapsed_s(self) -> float:
        return (time.time_ns() - self._started_realtime_ns) / 1e9

    def make(self) -> None:
        """proc-<rank>-<host>-<pid>; a process that became another program (exec) gets a new one."""
        base = f"proc-{self._rank or 0}-{os.uname().nodename}-{os.getpid()}"
        for attempt in range(1, 1000):
            name = base if attempt == 1 else f"{base}.{attempt}"
            self.path = os.path.join(self._run_folder, name)
            try:
                make_new_folder(self.path)
                return
            except FileExistsError:
                continue
        raise OSError(f"{self._run_folder} has a thousand folders for process {os.getpid()}")

    def make_for_fork(self) -> None:
        self._role = "worker"
        self.make()

    def describe(self, cost: EventCost, call_ns: float) -> None:
        self._started_realtime_ns = time.time_ns()
        self._pid = os.getpid()
        self._write(
            {
                "format": file_names.FORMAT_VERSION,
                "role": self._role,
                "rank": self._rank,
                "pid": os.getpid(),
                "parent_pid": os.getppid(),
                "host": os.uname().nodename,
                "python": sys.version.split()[0],
                "argv": mask_command(sys.orig_argv),
                "started_realtime_ns": self._started_realtime_ns,
                "process_start_realtime_ns": process_start_realtime_ns(),
                "ticks_per_ns": _core.ticks_per_ns(),
                "event_cost_ticks": ns_to_ticks(cost.line_ns),
                "exit_cost_ticks": ns_to_ticks(cost.exit_ns),
                "call_cost_ticks": ns_to_ticks(call_ns),
                "status": "running",
                "ended_ticks": None,
            }
        )

    def turned_out_as_rank(self, rank: int) -> None:
        """Some launchers put the rank into the environment, but not all do."""
        if not self.is_this_process:
            return
        self._role = "rank" if self._role == "worker" else self._role
        self._rank = rank
        os.environ["STEPSCOPE_RANK"] = str(rank)  # also for the processes it starts
        self._write({"role": self._role, "rank": rank})

    def ended(self, status: str, ended_ticks: int) -> None:
        self._write({"status": status, "ended_ticks": ended_ticks})

    def _write(self, changed: dict[str, Any]) -> None:
        self._about |= changed
        write_json(os.path.join(self.path, file_names.PROCESS_FILE), self._about)


def process_start_realtime_ns() -> int | None:
    """When the kernel started this process."""
    try:
        with open("/proc/self/stat", "rb") as file:
            after_name = file.read().rpartition(b")")[2].split()
        started_s = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return time.time_ns() - int((time.clock_gettime(time.CLOCK_BOOTTIME) - started_s) * 1e9)
    except (OSError, ValueError, IndexError, AttributeError) as error:
        let_pass(error)
        return None
