"""The processes of a run: how long, how much CPU, input and output, and how they ended."""

import os
import socket

import numpy as np
import numpy.typing as npt

from stepscope.analyze.phases.overhead import overhead
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import Ending, Process, ProcessesAnswer, ProcessRow
from stepscope.store.reader import ProcessData, Run


def processes(run: Run) -> ProcessesAnswer:
    """In the order in which they started, each with its own pid."""
    ordered = sorted(run.processes, key=lambda process: process_start_ns(process))
    return ProcessesAnswer(
        processes=[_row(run, process) for process in ordered], notes=all_notes(run)
    )


def _row(run: Run, process: ProcessData) -> ProcessRow:
    info = process.info
    cpu, transfers, memory = process.cpu, process.transfers, process.memory
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
        peak_bytes=_last(np.maximum(memory.resident_bytes, memory.peak_bytes)),
        threads=len(process.threads),
        status=status(run, process),
        overhead_share=cost.share,
        notes=process.notes,
    )


def _last(counter: npt.NDArray[np.uint64]) -> int | None:
    return int(counter[-1]) if len(counter) else None


def process_start_ns(process: ProcessData) -> int:
    """Monotonic: when the kernel started it; when recording began, where recording came later into
    a process that was there already and left it again."""
    info = process.info
    started = info.process_start_realtime_ns
    if started is None:
        return process.start_ns
    return min(process.start_ns, process.clock.monotonic_ns(started))


def process_end_ns(run: Run, process: ProcessData) -> int:
    """Monotonic: the supervisor saw the main process end, after its last record."""
    ended = run.supervisor.ended_monotonic_ns if run.supervisor else None
    if ended is None or process.info.role != "main" or process.info.status == "stopped":
        return process.end_ns
    return max(ended, process.end_ns)


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
    """How the script ended: as the supervisor saw it, else what its process wrote last."""
    supervisor, main = run.supervisor, run.main
    if supervisor is not None and supervisor.signal is not None:
        return Ending(how="killed", exit_status=None, signal=_signal_name(supervisor.signal))
    if supervisor is not None and supervisor.exit_status is not None:
        return Ending(how="exited", exit_status=supervisor.exit_status, signal=None)
    if main is None:
        return Ending(how="unknown", exit_status=None, signal=None)
    now = status(run, main)
    if now == "ended":
        return Ending(how="exited", exit_status=None, signal=None)
    if now in ("running", "killed", "stopped"):
        return Ending(how=now, exit_status=None, signal=None)  # type: ignore[arg-type]  # all are its words
    return Ending(how="unknown", exit_status=None, signal=None)


def _signal_name(number_or_name: int | str) -> str:
    import signal

    if isinstance(number_or_name, str):
        return number_or_name
    try:
        return signal.Signals(number_or_name).name
    except ValueError:
        return f"signal {number_or_name}"
