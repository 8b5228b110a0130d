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

from stepscope.analyze.operators.device_by_step import DevicePart, count_steps, steps_of
from stepscope.analyze.operators.device_times import idle_split, times_of
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.devices import Device, Work, devices
from stepscope.analyze.traces.operator_tree import op_tree, without_launch
from stepscope.analyze.traces.windows import read_window, windows
from stepscope.model.ops import DeviceAnswer, DeviceKernel, DeviceRow, IdleSplit, StreamRow
from stepscope.store.reader import Run

_NONE: Final = "No operators were recorded, so nothing is known about a device."
_NO_DEVICE: Final = "Nothing ran on a device in what was recorded."


def device(run: Run) -> DeviceAnswer:
    """One row per device and rank; several windows of it together."""
    notes, has_windows = all_notes(run), False
    for process in run.processes:
        for window in windows(process):
            has_windows, trace = True, read_window(window)
            found = [trace] if isinstance(trace, str) else [
                *trace.notes, *(without_launch(op_tree(trace)) if trace.has_device else [])
            ]  # fmt: skip
            notes += found
    rows = [_row(run, each) for each in devices(run)]
    if not rows:
        notes.append(_NO_DEVICE if has_windows else _NONE)
    return DeviceAnswer(ranks=rows, notes=list(dict.fromkeys(notes)))


def _row(run: Run, each: Device) -> DeviceRow:
    parts = [
        DevicePart(window, work, times_of(work.trace, work.events))
        for window, work in zip(each.windows, each.works, strict=True)
    ]
    figures: collections.Counter[str] = collections.Counter()
    for part in parts:
        figures.update(part.times.whole())
    return DeviceRow(
        **dict[str, Any](figures),
        rank=each.rank,
        steps=count_steps(run, each.process, parts),
        wall_ns=figures["busy_ns"] + figures["idle_ns"],
        idle=_together(idle_split(part.work, part.times.busy) for part in parts),
        kernels=_kernels(each.works),
        device=each.number if each.number >= 0 else None,
        trace=each.file,
        streams=_streams(each.works),
        each_step=[step for part in parts for step in steps_of(run, each.process, part)],
    )


def _together(splits: Iterable[IdleSplit]) -> IdleSplit:
    total: collections.Counter[str] = collections.Counter(
        host_wait_ns=0, kernel_wait_ns=0, other_ns=0
    )
    for split in splits:
        total.update(msgspec.structs.asdict(split))
    return IdleSplit(**total)


def _kernels(works: list[Work]) -> list[DeviceKernel]:
    """The most time first."""
    found: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for work in works:
        number, lasted_ns = work.events["name"], work.events["duration_ns"]
        total_ns = np.zeros(len(work.trace.names), np.int64)
        np.add.at(total_ns, number, lasted_ns)
        for index, n in enumerate(np.bincount(number).tolist()):
            if n:
                row = found[work.trace.names[index]]
                row[0] += n
                row[1] += int(total_ns[index])
    rows = [DeviceKernel(name=name, calls=n, total_ns=ns) for name, (n, ns) in found.items()]
    return sorted(rows, key=lambda row: (-row.total_ns, row.name))


def _streams(works: list[Work]) -> list[StreamRow]:
    numbers = sorted({int(each) for work in works for each in np.unique(work.events["stream"])})
    return [_stream(number, works) for number in numbers if number >= 0]


def _stream(number: int, works: list[Work]) -> StreamRow:
    figures: collections.Counter[str] = collections.Counter()
    splits, calls = [], 0
    for work in (each.on_stream(number) for each in works):
        times = times_of(work.trace, work.events)
        figures.update(times.whole())
        splits.append(idle_split(work, times.busy))
        calls += len(work.events)
    del figures["exposed_communication_ns"]  # it is hidden by other streams
    return StreamRow(**figures, stream=number, calls=calls, idle=_together(splits))
