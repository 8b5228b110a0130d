"""What each device did with its time: busy, computing, communicating, idle; by stream and step.

Wall time is from the first kernel's (or copy's) start to the last one's end, as in HTA. HTA splits
only the idle time of each stream, whose parts sum to several times the idle time of the device; the
gaps of a device are those in which none of its streams works, and their parts sum to it.
"""

import collections
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.operators.device_by_step import DevicePart, count_steps, steps_of
from stepscope.analyze.operators.device_times import idle_split, work_of
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.operator_tree import op_tree, without_launch
from stepscope.analyze.traces.windows import read_window, windows
from stepscope.importers.trace import ON_DEVICE, Trace
from stepscope.model.ops import DeviceAnswer, DeviceKernel, DeviceRow, IdleSplit, StreamRow
from stepscope.store.reader import ProcessData, Run

_NONE: Final = "No operators were recorded, so nothing is known about a device."
_NO_DEVICE: Final = "Nothing ran on a device in what was recorded."
_Table = npt.NDArray[Any]


def device(run: Run) -> DeviceAnswer:
    """One row per device and rank; several windows of it together."""
    notes, rows, has_windows = all_notes(run), [], False
    for process in run.processes:
        parts: dict[int, list[DevicePart]] = collections.defaultdict(list)
        for window in windows(process):
            has_windows = True
            trace = read_window(window)
            if isinstance(trace, str):
                notes.append(trace)
                continue
            notes += [*trace.notes, *without_launch(op_tree(trace))]
            for number, events in _by_device(trace):
                parts[number].append(DevicePart(window, trace, events, work_of(trace, events)))
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


def _row(run: Run, process: ProcessData, number: int, parts: list[DevicePart]) -> DeviceRow:
    figures: collections.Counter[str] = collections.Counter()
    for part in parts:
        figures.update(part.work.whole())
    return DeviceRow(
        **dict[str, Any](figures),
        rank=_rank(process, parts[0].trace),
        steps=count_steps(run, process, parts),
        wall_ns=figures["busy_ns"] + figures["idle_ns"],
        idle=_together(idle_split(each.trace, each.events, each.work.busy) for each in parts),
        kernels=_kernels(parts),
        device=number if number >= 0 else None,
        trace=parts[0].window.path.name if parts[0].window.start_ns is None else None,
        streams=_streams(parts),
        each_step=[step for part in parts for step in steps_of(run, process, part)],
    )


def _together(splits: Iterable[IdleSplit]) -> IdleSplit:
    total: collections.Counter[str] = collections.Counter(
        host_wait_ns=0, kernel_wait_ns=0, other_ns=0
    )
    for split in splits:
        total.update(msgspec.structs.asdict(split))
    return IdleSplit(**total)


def _kernels(parts: list[DevicePart]) -> list[DeviceKernel]:
    """The most time first."""
    found: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for part in parts:
        names, lasted = part.events["name"].tolist(), part.events["duration_ns"].tolist()
        for name, ns in zip(names, lasted, strict=True):
            found[part.trace.names[name]][0] += 1
            found[part.trace.names[name]][1] += ns
    rows = [DeviceKernel(name=name, calls=n, total_ns=ns) for name, (n, ns) in found.items()]
    return sorted(rows, key=lambda row: (-row.total_ns, row.name))


def _streams(parts: list[DevicePart]) -> list[StreamRow]:
    numbers = sorted({number for part in parts for number in part.events["stream"].tolist()})
    return [_stream(number, parts) for number in numbers if number >= 0]


def _stream(number: int, parts: list[DevicePart]) -> StreamRow:
    figures: collections.Counter[str] = collections.Counter()
    splits, calls = [], 0
    for part in parts:
        events = part.events[part.events["stream"] == number]
        work = work_of(part.trace, events)
        figures.update(work.whole())
        splits.append(idle_split(part.trace, events, work.busy))
        calls += len(events)
    del figures["exposed_communication_ns"]  # it is hidden by other streams
    return StreamRow(**figures, stream=number, calls=calls, idle=_together(splits))


def _rank(process: ProcessData, trace: Trace) -> int | None:
    if process.info.rank is not None:
        return process.info.rank
    info = trace.head.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) else None
