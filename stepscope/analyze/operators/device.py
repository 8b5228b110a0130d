"""What each device did with its time, as HTA defines it: busy, computing, communicating, idle.

1. Wall time is from the first kernel's (or copy's) start to the last one's end.
2. Idle is what no kernel covers. A gap is the host's fault if the kernel that ends it was launched
   after the gap began; under 30 ns it is the usual gap between two kernels; the rest is other.
3. Communication is exposed while no computation runs.
HTA splits the idle time of each stream, so that its parts sum to several times the idle time of the
device; here the gaps are those of the whole device, and the parts sum to it.
"""

import collections
import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces.windows import Window, read_window, steps_begun, windows
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.model.ops import DeviceAnswer, DeviceKernel, DeviceRow, IdleSplit
from stepscope.store.reader import ProcessData, Run

_KERNEL_WAIT_NS: Final = 30
_STEP: Final = "ProfilerStep#"
_NONE: Final = "No operators were recorded, so nothing is known about a device."
_NO_DEVICE: Final = "Nothing ran on a device in what was recorded."
_Table = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class _Part:
    """One device in one window."""

    window: Window
    trace: Trace
    events: _Table


def device(run: Run) -> DeviceAnswer:
    """One row per device and rank; several windows of it together."""
    notes, rows, has_windows = all_notes(run), [], False
    for process in run.processes:
        parts: dict[int, list[_Part]] = collections.defaultdict(list)
        for window in windows(process):
            has_windows = True
            trace = read_window(window)
            if isinstance(trace, str):
                notes.append(trace)
                continue
            notes += trace.notes
            for number, events in _by_device(trace):
                parts[number].append(_Part(window, trace, events))
        rows += [_row(run, process, number, parts[number]) for number in sorted(parts)]
    if not rows:
        notes.append(_NO_DEVICE if has_windows else _NONE)
    rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.trace or "", row.device or 0))
    return DeviceAnswer(ranks=rows, notes=list(dict.fromkeys(notes)))


def _by_device(trace: Trace) -> list[tuple[int, _Table]]:
    events = trace.of(*ON_DEVICE)
    return [
        (int(number), events[events["device"] == number]) for number in np.unique(events["device"])
    ]


def _row(run: Run, process: ProcessData, number: int, parts: list[_Part]) -> DeviceRow:
    times: collections.Counter[str] = collections.Counter()
    kernels: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for part in parts:
        times.update(_times(part))
        names, lasted = part.events["name"].tolist(), part.events["duration_ns"].tolist()
        for name, ns in zip(names, lasted, strict=True):
            kernels[part.trace.names[name]][0] += 1
            kernels[part.trace.names[name]][1] += ns
    split = IdleSplit(host_wait_ns=times["host_wait"], kernel_wait_ns=times["kernel_wait"],
                      other_ns=times["other"])  # fmt: skip
    rows = [DeviceKernel(name=name, calls=n, total_ns=ns) for name, (n, ns) in kernels.items()]
    return DeviceRow(
        rank=_rank(process, parts[0].trace),
        steps=_steps(run, process, parts),
        wall_ns=times["wall"],
        busy_ns=times["busy"],
        compute_ns=times["compute"],
        communication_ns=times["communication"],
        exposed_communication_ns=times["exposed"],
        memcpy_ns=times["memcpy"],
        idle_ns=times["wall"] - times["busy"],
        idle=split,
        kernels=sorted(rows, key=lambda row: (-row.total_ns, row.name)),
        device=number if number >= 0 else None,
        trace=parts[0].window.path.name if parts[0].window.start_ns is None else None,
    )


def _times(part: _Part) -> dict[str, int]:
    events = part.events
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    collective = np.array([is_collective(name) for name in part.trace.names], np.bool_)
    is_kernel = events["category"] == Category.KERNEL
    talks = is_kernel & collective[events["name"]]
    computing = union(start[is_kernel & ~talks], end[is_kernel & ~talks])
    talking = union(start[talks], end[talks])
    copying = union(start[~is_kernel], end[~is_kernel])
    busy = union(start, end)
    hidden_ns = int(overlap_ns(*talking, computing).sum())
    return {
        "wall": int(end.max() - start.min()),
        "busy": _total(busy),
        "compute": _total(computing),
        "communication": _total(talking),
        "exposed": _total(talking) - hidden_ns,
        "memcpy": _total(copying),
        **_idle(part, busy),
    }


def _total(pairs: tuple[Ints, Ints]) -> int:
    return int((pairs[1] - pairs[0]).sum())


def _idle(part: _Part, busy: tuple[Ints, Ints]) -> dict[str, int]:
    begin, end = busy[1][:-1], busy[0][1:]
    order = np.argsort(part.events["start_ns"], kind="stable")
    ends_it = order[np.searchsorted(part.events["start_ns"][order], end)]
    launched = _launched_ns(part.trace, part.events["correlation"][ends_it])
    gap = end - begin
    host = launched > begin
    kernel = ~host & (gap < _KERNEL_WAIT_NS)
    return {
        "host_wait": int(gap[host].sum()),
        "kernel_wait": int(gap[kernel].sum()),
        "other": int(gap[~host & ~kernel].sum()),
    }


def _launched_ns(trace: Trace, correlation: Ints) -> Ints:
    """When the call that launched each of these began; 0: not known."""
    calls = trace.of(Category.RUNTIME)
    calls = calls[calls["correlation"] >= 0]
    if not len(calls):
        return np.zeros(len(correlation), np.int64)
    calls = calls[np.argsort(calls["correlation"], kind="stable")]
    at = np.minimum(np.searchsorted(calls["correlation"], correlation), len(calls) - 1)
    known = (calls["correlation"][at] == correlation) & (correlation >= 0)
    return np.where(known, calls["start_ns"][at], 0)


def _rank(process: ProcessData, trace: Trace) -> int | None:
    if process.info.rank is not None:
        return process.info.rank
    info = trace.head.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) else None


def _steps(run: Run, process: ProcessData, parts: list[_Part]) -> int | None:
    """How many began in the windows; in a trace without a recording around it, those it marks."""
    found = 0
    for part in parts:
        if part.window.start_ns is not None:
            begun = steps_begun(part.window, find_steps(run, process).start_ns)
            found += int(begun.sum())
        elif isinstance(part.trace.head.get("steps"), int):
            found += part.trace.head["steps"]
        else:
            found += sum(name.startswith(_STEP) for name in part.trace.names)
    return found or None
