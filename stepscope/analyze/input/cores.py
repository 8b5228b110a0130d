"""The cores that a run may use, and those of them that nobody used.

1. What the run's own processes use is counted by themselves.
2. What all programs use is counted by the supervisor, every second or more often: on the machine,
   and in the container where that has a limit of its own. What both count between two of its looks,
   less what the run used between the same two, is the others'.
3. Without those counters nothing is known about the others, and no core is called idle.
4. While the training thread is ready and has no core, none is idle: the system says how long that
   is, and no more than the rest of the time can be left.
"""

from typing import Final

import numpy as np

from stepscope.analyze.counters import grown
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run

Pairs = tuple[Ints, Ints]

LEAST_IDLE: Final = 0.5  # of a core: with less, one more worker gains nothing
_MOST: Final = 0.5  # of the window: between looks that cover less, the others may do other things


def cores_of(run: Run) -> float | None:
    machine = run.info.machine
    known = [each for each in (machine.cores, machine.container_cores) if each]
    return float(min(known)) if known else None


def idle_cores(run: Run, process: ProcessData, window: Pairs) -> float | None:
    """Those that nobody used in the window, on average. None: only the run's own use is known, and
    that leaves some."""
    cores = cores_of(run)
    if cores is None or not (window[1] - window[0]).sum():
        return None
    left = max(0.0, cores - used_cores(run, process, window))
    left = min(left, cores * (1.0 - _lost_share(process, window)))
    others = cores_of_others(run, process, window)
    if others is None:
        return None if left >= LEAST_IDLE else left
    return max(0.0, left - others)


def cores_of_others(run: Run, process: ProcessData, window: Pairs) -> float | None:
    """What other programs use of the cores that the run may use. None: not known."""
    others = [
        taken
        for counter, capacity in _counters(run, process)
        if (taken := _taken(run, process, window, counter, capacity)) is not None
    ]
    return max(others, default=None)


def _lost_share(process: ProcessData, window: Pairs) -> float:
    """How much of the window the main thread was ready but had no core."""
    memory = process.memory
    lost_ns = float(grown(memory.at_ns, memory.run_delay_ns, window).sum())
    return min(1.0, lost_ns / max(1.0, float((window[1] - window[0]).sum())))


def used_cores(run: Run, process: ProcessData, window: Pairs) -> float:
    """By the processes of the run on the host of this one."""
    here = [each for each in run.processes if each.info.host == process.info.host]
    lasted_ns = float((window[1] - window[0]).sum())
    return sum(float(_grown(each, window).sum()) for each in here) / max(1.0, lasted_ns)


def _counters(run: Run, process: ProcessData) -> list[tuple[str, float]]:
    """What the supervisor counts on this host, and how many cores there are to use of each."""
    machine = run.info.machine
    if machine.host and machine.host != process.info.host:
        return []
    found = (("cpu_ns", machine.cores), ("container_cpu_ns", machine.container_cores))
    return [(counter, float(capacity)) for counter, capacity in found if capacity]


def _taken(
    run: Run, process: ProcessData, window: Pairs, counter: str, capacity: float
) -> float | None:
    """The cores that others take away from the run: not those that it may not use anyway."""
    rows = [row for row in run.system if row.get(counter) is not None]
    looks = _looks(np.array([row["monotonic_ns"] for row in rows], np.int64), window)
    if looks is None:
        return None
    first, last = rows[looks[0]], rows[looks[1]]
    start, end = int(first["monotonic_ns"]), int(last["monotonic_ns"])
    used = float(last[counter] - first[counter]) / (end - start)
    others = max(0.0, used - used_cores(run, process, (np.array([start]), np.array([end]))))
    return max(0.0, others - (capacity - (cores_of(run) or capacity)))


def _looks(at_ns: Ints, window: Pairs) -> tuple[int, int] | None:
    """The first and the last look inside the window, or those around it if that is too short."""
    begins, ends = int(window[0][0]), int(window[1][-1])
    first, last = np.searchsorted(at_ns, begins), np.searchsorted(at_ns, ends, side="right") - 1
    for pair in ((first, last), (first - 1, last), (first - 1, last + 1)):
        least, most = max(0, int(pair[0])), min(len(at_ns) - 1, int(pair[1]))
        if least < most and at_ns[most] - at_ns[least] >= _MOST * (ends - begins):
            return least, most
    return None


def _grown(process: ProcessData, window: Pairs) -> Ints:
    """Its counter began at zero with the process, which may be long before recording did."""
    cpu, began = process.cpu, process.info.process_start_realtime_ns
    at_ns, used_ns = cpu.at_ns, cpu.process_ns
    if len(at_ns) and began is not None:
        born_ns = min(process.clock.monotonic_ns(began), int(at_ns.min()) - 1)
        at_ns, used_ns = np.append(at_ns, born_ns), np.append(used_ns, 0)
    more: Ints = grown(at_ns, used_ns, window).astype(np.int64)
    return more
