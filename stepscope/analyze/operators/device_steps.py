"""What the device did in the steps of a trace: busy, idle, copies, and what the host waited for."""

import dataclasses
import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.operators.operators import Part, parts_of
from stepscope.analyze.run import code_location
from stepscope.clock import Ints
from stepscope.importers.trace import ON_DEVICE, Category
from stepscope.model import Location
from stepscope.store.reader import ProcessData, Run

_Mask = npt.NDArray[np.bool_]
_STEP: Final = "ProfilerStep#"
_SYNC: Final = re.compile(
    r"(cuda|hip|cu)(Device|Stream|Event|Ctx)Synchronize|(cuda|hip)Memcpy$|MemcpyAsync.*Sync"
)
_MATRIX: Final = re.compile(r"gemm|conv|cudnn|Cijk_|matmul|wgrad|dgrad|xmma|cutlass", re.I)
_SHORT: Final = re.compile(
    r"h884|h1688|h16816|hgemm|hcudnn|fp16|bf16|f16|_HB|_BB|_HH|HSS|BSS|HHS|BBS|tf32|i8|fp8|e4m3",
    re.I,
)
_PAGEABLE: Final = re.compile(r"pageable", re.I)


@dataclasses.dataclass(frozen=True, eq=False)
class DeviceTime:
    """Of one trace. Times are sums over its steps, `step_ns` has one entry per step."""

    run: Run
    process: ProcessData
    part: Part
    step_ns: Ints
    start_ns: Ints
    busy: tuple[Ints, Ints]  # a union
    events: npt.NDArray[Any]  # on the device
    launcher: npt.NDArray[np.int64]  # operator of each, -1: not known

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
        matrix = kernels & self.matching(_MATRIX, self.events)
        return matrix & ~self.matching(_SHORT, self.events), matrix

    @property
    def syncs(self) -> npt.NDArray[Any]:
        """Calls in which the host waits for the device."""
        host = self.part.tree.trace.of(Category.RUNTIME)
        return host[self.matching(_SYNC, host)]

    def in_steps(self, busy: tuple[Ints, Ints]) -> float:
        """How much of a union lies in the steps."""
        return float(overlap_ns(self.start_ns, self.start_ns + self.step_ns, busy).sum())

    def clipped(self, events: npt.NDArray[Any]) -> tuple[Ints, Ints]:
        """Start and end of each, clipped to the first and the last step."""
        first, last = int(self.start_ns[0]), int(self.start_ns[-1] + self.step_ns[-1])
        start = np.clip(events["start_ns"], first, last)
        end = np.clip(events["start_ns"] + events["duration_ns"], first, last)
        return start, end

    def idle_in(self, start_ns: Ints, end_ns: Ints) -> Ints:
        """How long nothing runs on the device in each of these stretches."""
        return (end_ns - start_ns) - overlap_ns(start_ns, end_ns, self.busy)

    def idle_after(self, events: npt.NDArray[Any]) -> Ints:
        """After the end of each: how long nothing runs on the device."""
        ends = events["start_ns"] + events["duration_ns"]
        following = np.searchsorted(self.busy[0], ends)
        known = following < len(self.busy[0])
        gap = np.zeros(len(events), np.int64)
        gap[known] = self.busy[0][following[known]] - ends[known]
        before = np.maximum(following - 1, 0)
        runs_on = (following > 0) & (self.busy[1][before] > ends)
        gap[runs_on] = 0
        return np.maximum(gap, 0)

    def place(self, kept: _Mask) -> Location | None:
        """The line that launched most of these."""
        spent: dict[tuple[int, int], float] = {}
        places = self.part.places
        for index, ns in zip(
            self.launcher[kept].tolist(), self.events["duration_ns"][kept].tolist(), strict=True
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
    part = max(with_device, key=lambda each: len(each.tree.trace.of(*ON_DEVICE)))
    device, launcher = part.tree.device, part.tree.launcher
    start = device["start_ns"]
    busy = union(start, start + device["duration_ns"])
    step_start, step_ns = _steps(part, busy)
    return DeviceTime(run, process, part, step_ns, step_start, busy, device, launcher)


def _steps(part: Part, busy: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """As the trace marks them, each up to the start of the next; otherwise all of it as one."""
    events, names = part.tree.events, part.tree.trace.names
    marks = [index for index, name in enumerate(names) if name.startswith(_STEP)]
    begins = np.sort(events["start_ns"][np.isin(events["name"], marks)])
    begins = np.unique(begins)
    if len(begins) > 1:
        return begins[:-1], np.diff(begins)
    first = min(int(events["start_ns"].min(initial=2**62)), int(busy[0].min(initial=2**62)))
    last = max(int(part.tree.end_ns.max(initial=0)), int(busy[1].max(initial=0)))
    return np.array([first]), np.array([max(1, last - first)])
