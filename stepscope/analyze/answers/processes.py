"""The processes of a run: how long, how much CPU, input and output, and how they ended."""

import os
import socket
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.answers.memory import peak_bytes
from stepscope.analyze.lifetimes import process_end_ns, process_start_ns
from stepscope.analyze.phases.overhead import overhead
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import Ending, How, Process
from stepscope.model.processes import ProcessesAnswer, ProcessRow
from stepscope.store.reader import ProcessData, Run

_TRACE: Final = "imported trace"
_OTHER_ENDINGS: Final[dict[How, str]] = {
    "running": "still running",
    "stopped": "recording stopped before it ended",
    "unknown": "how it ended is not known",
}


def processes(run: Run) -> ProcessesAnswer:
    """In the order in which they started, each with its own pid."""
    ordered = sorted(run.processes, key=lambda process: process_start_ns(process))
    return ProcessesAnswer(
        processes=[_row(run, process) for process in ordered], notes=all_notes(run)
    )


def _row(run: Run, process: ProcessData) -> ProcessRow:
    info = process.info
    cpu, transfers = process.cpu, process.transfers
    cost = overhead(run, process, find_steps(run, process))
    return ProcessRow(
        process=Process(role=info.role, rank=info.rank, pid=info.pid),
        parent_pid=info.parent_pid,
        host=info.host,
        argv=info.argv,
        wall_ns=max(0, process_end_ns(run, process) - process_start_ns(process)),
        cpu_ns=_last(cpu.process_ns),
        read_bytes=_last(transfers.read_bytes),
        written_bytes=_last(transfers.written_bytes),
        voluntary_switches=_last(cpu.voluntary_switches),
        involuntary_switches=_last(cpu.involuntary_switches),
        peak_bytes=peak_bytes(process),
        threads=len(process.threads),
        status=status(run, process),
        overhead_share=cost.share if cost is not None else None,
        notes=process.notes,
    )


def _last(counter: npt.NDArray[np.uint64]) -> int | None:
    return int(counter[-1]) if len(counter) else None


def status(run: Run, process: ProcessData) -> str:
    """ended | stopped | running | killed: "running" in the file of a process that is gone only
    means that it was killed."""
    written = process.info.status
    if written != "running" or (run.supervisor is None and _is_alive(process)):
        return written
    return "killed"


def _is_alive(process: ProcessData) -> bool:
    """Whether a process with that pid runs here; on another host, it may."""
    if process.info.host and process.info.host != socket.gethostname():
        return True
    try:
        os.kill(process.info.pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def ending(run: Run) -> Ending:
    how, exit_status, signal = _ended(run)
    words = _TRACE if run.is_trace else _ending_words(how, exit_status, signal)
    return Ending(how=how, exit_status=exit_status, signal=signal, words=words)


def _ended(run: Run) -> tuple[How, int | None, str | None]:
    """How, exit status and signal: as the supervisor saw it, else what its process wrote last."""
    supervisor, main = run.supervisor, run.main
    if supervisor is not None and supervisor.signal is not None:
        return "killed", None, _signal_name(supervisor.signal)
    if supervisor is not None and supervisor.exit_status is not None:
        return "exited", supervisor.exit_status, None
    known: dict[str, How] = {
        "ended": "exited", "running": "running", "killed": "killed", "stopped": "stopped"
    }  # fmt: skip
    return known.get(status(run, main) if main else "", "unknown"), None, None


def _ending_words(how: How, exit_status: int | None, signal: str | None) -> str:
    if how == "killed":
        return f"killed by {signal or 'a signal'}"
    if how == "exited":
        # Nobody waited for it if a launcher started it, or the recording did not start the script.
        return "ended by itself" if exit_status is None else f"ended with exit status {exit_status}"
    return _OTHER_ENDINGS[how]


def _signal_name(number_or_name: int | str) -> str:
    import signal

    if isinstance(number_or_name, str):
        return number_or_name
    try:
        return signal.Signals(number_or_name).name
    except ValueError:
        return f"signal {number_or_name}"
