"""The records of `model` about how a device is fed, what it holds, and what its time depends on.

`over_time` divides the device's wall time into equal parts, from its first kernel to its last.
"""

from typing import Literal

import msgspec

from stepscope.model import Record

# On the host: inside an operator, in a call into the device's library, outside all operators. Then
# the way to the device, work on it, and what holds that work up.
PathKind = Literal[
    "operator", "call", "outside operators", "launch", "kernel", "communication", "copy", "gap",
    "stream wait", "synchronisation", "earlier work",
]  # fmt: skip
Bound = Literal["compute", "memory"]


# --- how it is fed -------------------------------------------------------------------------------


class LaunchStats(Record, frozen=True):
    """The delay is from the end of the call that launched a kernel or copy to its start."""

    launches: int  # with a known call
    call_ns: int  # all calls together, on the host
    median_call_ns: int
    median_delay_ns: int
    p90_delay_ns: int
    max_delay_ns: int
    short_kernels: int  # that ran for less time than the call that launched them took
    short_kernel_ns: int
    short_call_ns: int  # of their calls
    slow_calls: int  # over 50 µs
    late_starts: int  # delays over 100 µs


class QueueRow(Record, frozen=True):
    """What was launched on a stream and had not begun to run."""

    stream: int
    launches: int
    mean_length: float  # over time
    max_length: int
    full_ns: int  # with 1,024 or more in the queue, CUDA's usual limit
    blocked_ns: int  # of the host, in launches on this stream that began then
    over_time: list[float]  # the mean in each part


class SyncRow(Record, frozen=True):
    """A call in which the host waits for the device."""

    name: str
    operator: str | None  # the one that most of its time was spent in
    calls: int
    total_ns: int
    busy_ns: int  # while something ran on the device
    idle_after_ns: int  # of the device, from the end of the calls to the next work


class CopyRow(Record, frozen=True):
    kind: str  # "HtoD (Pageable -> Device)"
    calls: int
    total_ns: int
    size_bytes: int | None  # null: the trace does not say
    bytes_per_s: float | None
    over_time: list[int]  # bytes in each part


class AliveRow(Record, frozen=True):
    """Memory that was allocated at the peak, by the operator that allocated it."""

    operator: str | None  # null: outside all operators, or before the trace began
    size_bytes: int
    allocations: int
    is_earlier: bool = False  # allocated before the trace began, and freed in it


class DeviceMemory(Record, frozen=True):
    """What the trace saw allocated. What was there before and is not freed in it is not known."""

    peak_bytes: int
    peak_at_ns: int  # since the first memory event
    span_ns: int  # from the first memory event to the last
    over_time: list[int]  # the largest in each part of that
    alive: list[AliveRow]


class AnnotationRow(Record, frozen=True):
    """A named range of the script or a framework: record_function, nvtx, TraceAnnotation."""

    name: str  # without a number at its end
    calls: int
    host_ns: int  # those on the host
    device_ns: int  # what the trace shows of it on the device, idle time included
    kernels: int  # launched inside it
    kernel_ns: int


# --- what its time depends on --------------------------------------------------------------------


class PathShare(Record, frozen=True):
    kind: PathKind
    path_ns: int
    share: float  # of the step
    gain_ns: int  # how much shorter the step would be if all of this kind took no time


class PathRow(Record, frozen=True):
    """An operator, call, kernel or delay on the critical path."""

    kind: PathKind
    name: str
    times: int
    path_ns: int
    share: float
    gain_ns: int


class CriticalPath(Record, frozen=True):
    """Of one step: what it could not have been shorter without."""

    step: str | None  # null: the trace marks none, and it is all of it
    step_ns: int  # kinds sum to it, and so do all rows
    kinds: list[PathShare]
    rows: list[PathRow]  # the longest; the gain is known for these
    others: int  # rows left out


# --- what it could do ----------------------------------------------------------------------------


class DevicePeaks(Record, frozen=True):
    """Published by the maker: dense, without sparsity."""

    name: str
    flops_per_s: dict[str, float]  # by precision
    bytes_per_s: float


class RooflineRow(Record, frozen=True):
    """A heavy operator with inputs of one shape."""

    operator: str
    input_shapes: str
    precision: str
    calls: int
    device_ns: int
    flops: int
    least_bytes: int  # each input and output once
    flops_per_s: float
    bytes_per_s: float
    bound: Bound | None  # null where the device's peaks are not known
    share_of_roof: float | None


class Roofline(Record, frozen=True):
    device: str | None  # as the trace names it
    peaks: DevicePeaks | None
    flops: int
    device_ns: int  # in operators whose operations can be counted
    rows: list[RooflineRow]
    mfu: float | None  # time that these operations take at the peak, of the wall time
    of_busy: float | None  # the same, of the time in which the device worked
    note: str | None = None


class SequenceRow(Record, frozen=True):
    """Kernels that follow each other again and again on one stream, and could be one."""

    kernels: list[str]
    times: int
    total_ns: int
    gap_ns: int  # between them
    launches_saved: int


class DeviceDetails(Record, frozen=True):
    """Of one device; null or empty: the trace says nothing about it."""

    launches: LaunchStats | None = None
    queues: list[QueueRow] = msgspec.field(default_factory=list)
    synchronisations: list[SyncRow] = msgspec.field(default_factory=list)
    copies: list[CopyRow] = msgspec.field(default_factory=list)
    memory: DeviceMemory | None = None
    annotations: list[AnnotationRow] = msgspec.field(default_factory=list)
    critical_path: CriticalPath | None = None
    roofline: Roofline | None = None
    sequences: list[SequenceRow] = msgspec.field(default_factory=list)
