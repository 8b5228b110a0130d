"""What a device did in the steps of a trace: busy, idle, copies, and what the host waited for.

Of several devices it is the busiest: what holds that one up holds up the step.
"""

import dataclasses
import functools
import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, step_of, union
from stepscope.analyze.operators.device_by_step import spans_of
from stepscope.analyze.operators.idle_gaps import IdleGaps, idle_gaps
from stepscope.analyze.operators.kernel_names import matrix_precision
from stepscope.analyze.operators.operators import Part, parts_of
from stepscope.analyze.run import code_location
from stepscope.analyze.traces.devices import works_of
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category
from stepscope.model import Location
from stepscope.store.reader import ProcessData, Run

_Mask = npt.NDArray[np.bool_]
_PAGEABLE: Final = re.compile(r"pageable", re.I)


@dataclasses.dataclass(frozen=True, eq=False)
class DeviceTime:
    """Of one device in one trace. Times are sums over its steps, `step_ns` has one for each."""

    run: Run
    process: ProcessData
    part: Part
    step_ns: Ints
    start_ns: Ints
    is_by_step: bool  # whether these are steps, and not all of the trace as one
    busy: tuple[Ints, Ints]  # a union
    events: npt.NDArray[Any]  # on the device
    launcher: npt.NDArray[np.int64]  # operator of each, -1: not known
    number: int  # of the device, -1: not known
    devices: int  # that worked in this trace

    @property
    def steps(self) -> int:
        return len(self.step_ns)

    @property
    def wall_ns(self) -> float:
        return float(self.step_ns.sum())

    @property
    def busy_ns(self) -> float:
        return self.in_steps(self.busy)

    @property
    def idle_share(self) -> float:
        return max(0.0, 1 - self.busy_ns / max(1.0, self.wall_ns))

    def names(self, events: npt.NDArray[Any]) -> list[str]:
        known = self.part.tree.trace.names
        return [known[index] for index in events["name"].tolist()]

    def matching(self, pattern: re.Pattern[str], events: npt.NDArray[Any]) -> _Mask:
        known = self.part.tree.trace.names
        wanted = [index for index, name in enumerate(known) if pattern.search(name)]
        return np.isin(events["name"], wanted)

    # --- the questions ----------------------------------------------------------------------------

    @property
    def pageable(self) -> _Mask:
        """Copies from memory that the system may page out."""
        copies: _Mask = self.events["category"] == Category.MEMCPY
        copies &= self.matching(_PAGEABLE, self.events)
        return copies

    @property
    def single_precision(self) -> tuple[_Mask, _Mask]:
        """(matrix work in 32 bits, all matrix work)"""
        kernels = self.events["category"] == Category.KERNEL
        precision = [matrix_precision(name) for name in self.part.tree.trace.names]
        matrix = np.array([each is not None for each in precision] or [False], np.bool_)
        single = np.array([each == "32 bits" for each in precision] or [False], np.bool_)
        names = self.events["name"]
        return kernels & single[names], kernels & matrix[names]

    @property
    def collectives(self) -> _Mask:
        """Kernels that talk to other devices."""
        known = self.part.tree.trace.names
        talks = np.array([is_collective(name) for name in known] or [False], np.bool_)
        found: _Mask = talks[self.events["name"]] & (self.events["category"] == Category.KERNEL)
        return found

    @functools.cached_property
    def waits(self) -> npt.NDArray[Any]:
        """Calls in the steps in which the host waits for the device."""
        works = works_of(self.part.tree.trace)
        work = next(each for each in works if each.number == self.number)
        calls = work.calls[work.is_wait & (work.calls["duration_ns"] > 0)]
        return calls[step_of(calls["start_ns"], self.start_ns, self.start_ns + self.step_ns) >= 0]

    def in_steps(self, busy: tuple[Ints, Ints]) -> float:
        """How much of a union lies in the steps."""
        return float(overlap_ns(self.start_ns, self.start_ns + self.step_ns, busy).sum())

    @functools.cached_property
    def lasted_ns(self) -> Ints:
        """How long each event of the device ran, within the steps."""
        start = self.events["start_ns"]
        steps = union(self.start_ns, self.start_ns + self.step_ns)
        return overlap_ns(start, start + self.events["duration_ns"], steps)

    def idle_in(self, stretches: tuple[Ints, Ints]) -> float:
        """How long nothing runs on the device in these stretches (a union), within the steps."""
        start, end = (np.concatenate(both) for both in zip(stretches, self.busy, strict=True))
        return self.in_steps(union(start, end)) - self.busy_ns

    @functools.cached_property
    def gaps(self) -> IdleGaps:
        """The longest in each step."""
        steps = self.start_ns, self.start_ns + self.step_ns
        return idle_gaps(self.part.tree.trace, steps, self.busy)

    @property
    def lost_by_waits(self) -> float:
        """How long nothing runs on the device because the host waited for it, within the steps:
        from the end of each wait until something runs again, but no longer than the wait held the
        host up. A call that returns at once delays nothing, however much Python comes after it.
        Two that end in the same gap share it."""
        waits = self.waits
        ends = waits["start_ns"] + waits["duration_ns"]
        following = np.searchsorted(self.busy[0], ends)
        before = self.busy[1][np.maximum(following - 1, 0)]
        runs_on = (following > 0) & (before > ends)
        idles = ~runs_on & (following < len(self.busy[0]))
        ends, held_ns = ends[idles], waits["duration_ns"][idles]
        again = np.minimum(self.busy[0][following[idles]], ends + held_ns)
        return self.in_steps(union(ends, again))

    def place(self, kept: _Mask) -> Location | None:
        """The line that launched most of these."""
        spent: dict[tuple[int, int], float] = {}
        places = self.part.places
        for index, ns in zip(
            self.launcher[kept].tolist(), self.lasted_ns[kept].tolist(), strict=True
        ):
            if index >= 0 and places.code[index] > 0:
                key = int(places.code[index]), int(places.line[index])
                spent[key] = spent.get(key, 0.0) + ns
        if not spent:
            return None
        code, line = max(spent, key=lambda key: spent[key])
        return code_location(self.run, self.process, code, line)


def device_time(run: Run, process: ProcessData) -> DeviceTime | None:
    """Of the trace with the most on a device; None: no trace has any."""
    parts, _ = parts_of(process)
    with_device = [part for part in parts if part.tree.trace.has_device]
    if not with_device:
        return None
    part = max(with_device, key=lambda each: len(each.tree.device))
    device = part.tree.device
    numbers = np.unique(device["device"]).tolist()
    busy = {number: _busy(device[device["device"] == number]) for number in numbers}
    number = max(numbers, key=lambda each: int((busy[each][1] - busy[each][0]).sum()))
    mine = device["device"] == number
    spans = spans_of(run, process, part.window, part.tree.trace)
    start_ns, step_ns = spans.start_ns, np.maximum(1, spans.end_ns - spans.start_ns)
    if not len(spans):
        start_ns, step_ns = _whole(part, busy[number])
    return DeviceTime(
        run, process, part, step_ns, start_ns, len(spans) > 0, busy[number], device[mine],
        part.tree.launcher[mine], number, len(numbers),
    )  # fmt: skip


def _busy(events: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    return union(events["start_ns"], events["start_ns"] + events["duration_ns"])


def _whole(part: Part, busy: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """All of the trace, as one."""
    events = part.tree.events
    first = min(int(events["start_ns"].min(initial=2**62)), int(busy[0].min(initial=2**62)))
    last = max(int(part.tree.end_ns.max(initial=0)), int(busy[1].max(initial=0)))
    return np.array([first]), np.array([max(1, last - first)])
