"""From when to when a process ran, and a whole run: the one clock that every view counts on."""

from stepscope.store.reader import ProcessData, Run


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


def recorded_stretch_ns(run: Run, process: ProcessData) -> tuple[int, int]:
    """Recording that joined a running process and left it again has only its own time."""
    end_ns = process_end_ns(run, process)
    came_and_went = process.info.status == "stopped" and run.supervisor is None
    start_ns = process.start_ns if came_and_went else process_start_ns(process)
    return start_ns, max(start_ns, end_ns)
