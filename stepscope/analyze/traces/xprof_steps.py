"""Steps and what their time goes to, as in XProf.

1. A step begins where the script or a library marked one, on the host; if the device worked on
   beyond that, with what it did for that step. If no steps are marked, the calls of graph functions
   count.
2. It lasts until the next one begins: callbacks and whatever else lies between two marks is part of
   the training. How long the last one took is not known then. Marks that nearly touch are the
   steps, to the nanosecond that XProf says.
3. Every event of the step's group has a kind, and a batch that is fetched between two marks is
   input. Of several at one moment, the kind that comes first in `_ORDER` counts; what no event
   claims is All Others.
"""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import IntervalOf, by_order, intervals_of, step_of
from stepscope.analyze.traces.batch_fetches import fetches
from stepscope.analyze.traces.marks import StepNumbers, numbered
from stepscope.clock import Ints
from stepscope.importers import runtime_names as words
from stepscope.importers.causes import Causes, DeviceEvents, HostEvents

INPUT: Final = "Input"
HOST: Final = "Host Compute"
DEVICE: Final = "Device Compute"
LAUNCH: Final = "Kernel Launch"
COMPILE: Final = "Compilation"
OUTPUT: Final = "Output"
BETWEEN: Final = "Device to Device"
COLLECTIVES: Final = "Device Collectives"
OTHER: Final = "All Others"
CATEGORIES: Final = (
    DEVICE, BETWEEN, COLLECTIVES, INPUT, OUTPUT, LAUNCH, HOST, COMPILE, OTHER,
)  # fmt: skip

# Kinds of events, from the one that hides all others to the one that all others hide.
_ORDER: Final = (
    ("device compute", DEVICE),
    ("device to host", OUTPUT),
    ("device to device", BETWEEN),
    ("wait for input", INPUT),
    ("collective", COLLECTIVES),
    ("launch", LAUNCH),
    ("host to device", INPUT),
    ("host to host", HOST),
    ("compile", COMPILE),
    ("host compute", HOST),
)
KIND: Final = {kind: number for number, (kind, _) in enumerate(_ORDER)}
_NOT_COMPUTE: Final = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun")
_MARKERS: Final = ("train", "test", "TraceContext")
_CALLS: Final = ("FunctionRun", "SessionRun")
_UNNOTICED: Final = 0.05  # of a step between two marks: what the loop itself takes


@dataclasses.dataclass(frozen=True, eq=False)
class XprofSteps:
    """In Unix ns and in order; `ns` is steps x CATEGORIES and sums to each step."""

    start_ns: Ints
    end_ns: Ints
    ns: npt.NDArray[np.int64]
    is_whole: npt.NDArray[np.bool_]  # not: the last one, if others go on after their mark
    numbers: StepNumbers

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclasses.dataclass(frozen=True, eq=False)
class _Events:
    group: Ints
    kind: Ints
    start_ns: Ints
    end_ns: Ints


def xprof_steps(causes: Causes) -> XprofSteps:
    host, device = causes.host, causes.device
    has_device = len(device) > 0
    spans = _spans(host, device.spans)
    if has_device and device.spans:
        spans = {group: span for group, span in spans.items() if group in device.spans}
    ordered = sorted(spans.items(), key=lambda each: each[1])
    groups = np.array([group for group, _ in ordered], np.int64)
    begins, ends, is_whole = _to_next(np.array([span for _, span in ordered], np.int64))
    events = [_device_events(device), _host_events(host, has_device)]
    if not is_whole.all():
        events.append(_fetched_between(host, groups, begins, ends))
    group, kind, start, end = (
        np.concatenate([getattr(each, name.name) for each in events])
        for name in dataclasses.fields(_Events)
    )
    order = np.argsort(group, kind="stable")
    group, kind, start, end = group[order], kind[order], start[order], end[order]
    rows = []
    columns = (column.tolist() for column in (groups, begins, ends))
    for number, begin, stop in zip(*columns, strict=True):
        here = slice(*np.searchsorted(group, [number, number + 1]).tolist())
        step = np.array([begin], np.int64), np.array([stop], np.int64)
        rows.append(categories_of(kind[here], intervals_of(start[here], end[here]), step))
    table = np.concatenate(rows) if rows else np.zeros((0, len(CATEGORIES)), np.int64)
    own = _own_numbers(host)
    numbers = numbered(np.array([own.get(each, -1) for each in groups.tolist()], np.int64))
    return XprofSteps(begins, ends, table, is_whole, numbers)


def _to_next(spans: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Steps reach to the next one's begin, or to their own end if the device works longer."""
    begins, ends = spans.reshape(-1, 2).T
    following = np.maximum(ends, np.append(begins[1:], ends[-1:]))
    is_whole = np.ones(len(begins), np.bool_)
    if len(begins) < 2 or np.median(following[:-1] - ends[:-1]) <= _UNNOTICED * np.median(
        following[:-1] - begins[:-1]
    ):
        return begins, ends, is_whole
    is_whole[-1] = False
    return begins, following, is_whole


def _fetched_between(host: HostEvents, groups: Ints, begins: Ints, ends: Ints) -> _Events:
    """Batches that the loop fetches outside of the marks: no step caused that, but the next one
    waits for it, as `show input` says."""
    fetched = np.flatnonzero(fetches(host) & ~np.isin(host.group, groups))
    step = step_of(host.start_ns[fetched], begins, ends)
    fetched, step = fetched[step >= 0], step[step >= 0]
    kind = np.full(len(fetched), KIND["wait for input"], np.int64)
    return _Events(groups[step], kind, host.start_ns[fetched], host.end_ns[fetched])


def categories_of(
    kind: npt.NDArray[Any], interval_of: IntervalOf, steps: tuple[Ints, Ints]
) -> npt.NDArray[np.int64]:
    """steps x CATEGORIES: for each kind in order, the time that it adds to what those above it
    cover."""
    ns = by_order(kind, interval_of, steps, len(_ORDER))
    table = np.zeros((len(ns), len(CATEGORIES)), np.int64)
    for number, (_, category) in enumerate(_ORDER):
        table[:, CATEGORIES.index(category)] += ns[:, number]
    table[:, CATEGORIES.index(OTHER)] += steps[1] - steps[0] - ns.sum(axis=1)
    return table


# --- hosts ----------------------------------------------------------------------------------------


def _host_events(host: HostEvents, has_device: bool) -> _Events:
    kinds = np.array([_host_kind(name) for name in host.names] or [0], np.int64)[host.name]
    marker = _is_marker(host)
    launches = host.stats["correlation"] >= 0
    if has_device:
        launches |= host.named(words.PROCESS)
        kinds = np.where(launches & (kinds != KIND["host to device"]), KIND["launch"], kinds)
    kept = (host.group >= 0) & ~marker & ~host.named(*_NOT_COMPUTE)
    return _Events(host.group[kept], kinds[kept], host.start_ns[kept], host.end_ns[kept])


def _host_kind(name: str) -> int:
    operator = words.operator_of(name) or ""
    if operator.startswith("InfeedEnqueue") or name.startswith("MEMCPYHToD"):
        return KIND["host to device"]
    if name.startswith(words.GET_NEXT):
        return KIND["wait for input"]
    return KIND["compile"] if not operator and "ompile" in name else KIND["host compute"]


def _is_marker(host: HostEvents) -> npt.NDArray[np.bool_]:
    named = np.array(
        [name.startswith(_MARKERS) and "/" not in name for name in host.names] or [False], np.bool_
    )[host.name]
    marked = named | (host.stats["step_name"] > 0)
    internal = host.named(*words.INTERNAL_ROOTS)
    for root in host.roots.values():
        marked[root] |= not internal[root]
    found: npt.NDArray[np.bool_] = marked & (host.group >= 0)
    return found


def _own_numbers(host: HostEvents) -> dict[int, int]:
    """By group, where a mark has one (`step_num`)."""
    marks = np.flatnonzero(_is_marker(host) & (host.stats["step_num"] >= 0))
    groups, numbers = host.group[marks].tolist(), host.stats["step_num"][marks].tolist()
    return dict(zip(groups, numbers, strict=True))


def _spans(host: HostEvents, device: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """When each step began and ended."""
    marks = _is_marker(host)
    if not marks.any():
        marks = host.named(*_CALLS) & (host.group >= 0)
    found: dict[int, tuple[int, int]] = {}
    for index in np.flatnonzero(marks).tolist():
        span = int(host.start_ns[index]), int(host.end_ns[index])
        before = found.get(int(host.group[index]), (0, 0))
        if span[1] - span[0] > before[1] - before[0]:
            found[int(host.group[index])] = span
    for group, (start, end) in device.items():
        host_start, host_end = found.get(group, (0, 0))
        if not (host_start <= start and end <= host_end):
            found[group] = start, end
    return found


# --- devices --------------------------------------------------------------------------------------


def _device_events(device: DeviceEvents) -> _Events:
    kinds = np.array([device_kind(name) for name in device.names] or [0], np.int64)
    return _Events(device.group, kinds[device.name], device.start_ns, device.end_ns)


def device_kind(name: str) -> int:
    lower = name.lower().lstrip("%").replace(" ", "")  # torch: "Memcpy HtoD (Pageable -> Device)"
    for words_of, kind in (
        (("memcpyhtod", "memcpyh2d", "infeed"), "host to device"),
        (("memcpydtoh", "memcpyd2h", "outfeed"), "device to host"),
        (("memcpydtod", "memcpyd2d", "memcpyp2p"), "device to device"),
    ):
        if lower.startswith(words_of):
            return KIND[kind]
    return KIND["collective"] if words.is_collective(name) else KIND["device compute"]
