"""The records of `model` that are about operators and what ran on a device."""

from typing import Any, Literal

import msgspec

from stepscope.model import Location, Record
from stepscope.model.device import DeviceDetails


class OpPlace(Record, frozen=True):
    """A line that called an operator."""

    file: str
    line: int
    calls: int
    self_cpu_ns: int


class OpRow(Record, frozen=True):
    """An operator, as torch's own tables count it. Bytes: allocated minus freed."""

    name: str
    input_shapes: list[Any] | None  # null unless rows are grouped by shape
    calls: int
    self_cpu_ns: int  # without the operators inside it
    total_cpu_ns: int
    self_device_ns: int | None
    total_device_ns: int | None
    self_cpu_bytes: int | None
    self_device_bytes: int | None
    location: Location | None  # the line with the most of its own time
    locations: list[OpPlace]
    total_cpu_bytes: int | None = None
    flops: int | None = None  # of matrix products and convolutions


class OpsWindow(Record, frozen=True):
    """A stretch in which operators were recorded."""

    file: str
    start_ns: int | None  # since the process began to record
    duration_ns: int
    steps: int | None  # that began in it
    operators: int
    of_script: bool  # the script's own profiler recorded it
    slowdown: float | None  # of a step in it, against the measured ones


class OpsAnswer(Record, frozen=True):
    ops: list[OpRow]
    windows: list[OpsWindow] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    self_cpu_ns: int = 0  # of all operators, also of those that are not shown
    self_device_ns: int = 0


class KernelRow(Record, frozen=True):
    """What ran on the device."""

    name: str
    kind: Literal["kernel", "memcpy", "memset"]
    device: int | None
    calls: int
    total_ns: int
    mean_ns: int
    share: float  # of the time of all of them
    operator: str | None  # the one that launched most of it
    location: Location | None


class KernelsAnswer(Record, frozen=True):
    kernels: list[KernelRow]
    windows: list[OpsWindow] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)


# --- a device's time -----------------------------------------------------------------------------


class IdleSplit(Record, frozen=True):
    """Why nothing ran: what came next was launched too late; the gap between two kernels is under
    30 µs; or something else (another stream, an event, memory). They sum to the idle time."""

    host_wait_ns: int
    kernel_wait_ns: int
    other_ns: int


class DeviceKernel(Record, frozen=True):
    name: str
    calls: int
    total_ns: int


class StreamRow(Record, frozen=True):
    """One stream of a device, from the first thing that ran on it to the last."""

    stream: int
    calls: int
    busy_ns: int
    compute_ns: int
    communication_ns: int
    memcpy_ns: int
    memset_ns: int
    idle_ns: int
    idle: IdleSplit


class DeviceStep(Record, frozen=True):
    """What a device did in one step. Traces of torch mark steps on the host: here each lasts until
    what it launched is done."""

    number: int
    start_ns: int  # since the first thing that ran on the device
    duration_ns: int
    busy_ns: int
    compute_ns: int
    communication_ns: int
    exposed_communication_ns: int
    memcpy_ns: int
    memset_ns: int
    idle_ns: int


class DeviceRow(Record, frozen=True):
    """One device of one rank. Compute, communication and copies may overlap each other."""

    rank: int | None
    steps: int | None
    wall_ns: int  # from the first kernel's start to the last one's end
    busy_ns: int  # at least one of them ran
    compute_ns: int
    communication_ns: int
    exposed_communication_ns: int  # while nothing computed
    memcpy_ns: int  # copies and memset
    idle_ns: int
    idle: IdleSplit
    kernels: list[DeviceKernel]
    device: int | None = None
    trace: str | None = None
    memset_ns: int = 0  # of `memcpy_ns`
    streams: list[StreamRow] = msgspec.field(default_factory=list)
    each_step: list[DeviceStep] = msgspec.field(default_factory=list)
    details: DeviceDetails | None = None


class DeviceAnswer(Record, frozen=True):
    ranks: list[DeviceRow]
    notes: list[str] = msgspec.field(default_factory=list)
