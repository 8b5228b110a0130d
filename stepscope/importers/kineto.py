"""Traces of torch.profiler (Kineto's JSON, plain or gzipped), old and new, whole or damaged."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.trace import (
    EVENT_DTYPE,
    FLOW_DTYPE,
    MEMORY_DTYPE,
    Category,
    Numbers,
    Shapes,
    Thread,
    Trace,
    no_events,
)
from stepscope.importers.trace_text import TraceText

_Number = int | float | str | None


_CATEGORIES: Final = {
    "cpu_op": Category.OP,
    "operator": Category.OP,
    "user_annotation": Category.ANNOTATION,
    "cuda_runtime": Category.RUNTIME,
    "cuda_driver": Category.RUNTIME,
    "xpu_runtime": Category.RUNTIME,
    "xpu_driver": Category.RUNTIME,
    "runtime": Category.RUNTIME,
    "kernel": Category.KERNEL,
    "gpu_memcpy": Category.MEMCPY,
    "memcpy": Category.MEMCPY,
    "gpu_memset": Category.MEMSET,
    "memset": Category.MEMSET,
    "python_function": Category.PYTHON,
    "gpu_user_annotation": Category.DEVICE_ANNOTATION,
}
_FLOWS: Final = ("fwdbwd", "forward_backward")
_MEMORY: Final = "[memory]"
_LEGACY_PROCESS: Final = "CPU functions"  # autograd's own export: a bare list without categories
_NONE: Final = -1
_FARTHEST_US: Final = 2.0**61 / 1000


_NOTHING: Final = msgspec.Raw()


# There are millions of them, and none is part of a cycle: the collector need not look at them.
class _Args(msgspec.Struct, gc=False):
    """Those of an event's arguments that anybody asks for."""

    external: _Number = msgspec.field(default=_NONE, name="External id")
    external_before: _Number = msgspec.field(default=_NONE, name="external id")
    correlation: _Number = _NONE
    sequence: _Number = msgspec.field(default=_NONE, name="Sequence number")
    dims: msgspec.Raw = msgspec.field(default=_NOTHING, name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=_NOTHING, name="Input type")
    concrete: msgspec.Raw = msgspec.field(default=_NOTHING, name="Concrete Inputs")
    size: _Number = msgspec.field(default=0, name="Bytes")
    device_type: _Number = msgspec.field(default=0, name="Device Type")
    address: _Number = msgspec.field(default=0, name="Addr")
    stream: _Number = _NONE
    device: _Number = _NONE
    copied: _Number = msgspec.field(default=0, name="bytes")
    name: Any = None


class _Event(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    cat: str | None = None
    pid: _Number = None
    tid: _Number = None
    ts: _Number = None
    dur: _Number = 0.0
    id: _Number = _NONE
    args: _Args | None = None


_NO_ARGS: Final = _Args()


def read_kineto(path: str | Path) -> Trace:
    """All of it, in columns: some 70 bytes an event."""
    reader = _Reader()
    text = TraceText(Path(path), _Event)
    for events in text:
        reader.add(events)
    return reader.trace(Path(path), text)


class _Reader:
    def __init__(self) -> None:
        self._names: Numbers[str] = Numbers()
        self._threads: Numbers[tuple[_Number, _Number]] = Numbers()
        self._shapes: Numbers[tuple[bytes, bytes, bytes]] = Numbers()
        self._parts: list[npt.NDArray[Any]] = []
        self._memory: list[npt.NDArray[Any]] = []
        self._flows: list[npt.NDArray[Any]] = []
        self._thread_names: dict[int, str] = {}
        self._unread = 0

    def add(self, events: Sequence[_Event]) -> None:
        groups: dict[str, list[_Event]] = {"X": [], "M": [], "i": [], "flow": []}
        kinds = {"X": "X", "M": "M", "i": "i", "I": "i", "s": "flow", "f": "flow", "t": "flow"}
        for event in events:
            kind = kinds.get(event.ph)
            if kind is None:
                self._unread += event.ph in ("B", "E")
            else:
                groups[kind].append(event)
        self._add_complete(groups["X"])
        self._add_memory([event for event in groups["i"] if event.name == _MEMORY])
        self._add_flows([event for event in groups["flow"] if event.cat in _FLOWS])
        self._add_names(groups["M"])

    def _add_complete(self, events: list[_Event]) -> None:
        if not events:
            return
        args = [event.args or _NO_ARGS for event in events]
        names, threads = self._names, self._threads
        table = no_events(len(events))
        table["start_ns"] = _ns(event.ts for event in events)
        table["duration_ns"] = np.maximum(_ns(event.dur for event in events), 0)
        table["name"] = [names[event.name] for event in events]
        table["category"] = [_category(event) for event in events]
        table["thread"] = [threads[event.pid, event.tid] for event in events]
        before = _integers([each.external_before for each in args])
        external = _integers([each.external for each in args])
        table["external"] = np.where(external >= 0, external, before)
        table["correlation"] = _integers([each.correlation for each in args])
        table["sequence"] = _integers([each.sequence for each in args])
        table["shapes"] = [
            self._shape(event.name, a) for event, a in zip(events, args, strict=True)
        ]
        table["stream"] = _integers([each.stream for each in args])
        table["device"] = np.clip(_integers([each.device for each in args]), -1, 2**31 - 1)
        table["bytes"] = _integers([each.copied for each in args])
        self._parts.append(table)

    def _shape(self, name: str, args: _Args) -> int:
        concrete = bytes(args.concrete) if "conv" in name else b""
        return self._shapes[bytes(args.dims), bytes(args.types), concrete]

    def _add_memory(self, events: list[_Event]) -> None:
        if not events:
            return
        args = [event.args or _NO_ARGS for event in events]
        table = np.zeros(len(events), MEMORY_DTYPE)
        table["at_ns"] = _ns(event.ts for event in events)
        table["thread"] = [self._threads[event.pid, event.tid] for event in events]
        table["bytes"] = _integers([each.size for each in args])
        table["is_device"] = _integers([each.device_type for each in args]) > 0
        table["address"] = _integers([each.address for each in args]).astype(np.uint64)
        self._memory.append(table)

    def _add_flows(self, events: list[_Event]) -> None:
        if not events:
            return
        table = np.zeros(len(events), FLOW_DTYPE)
        table["id"] = _integers([event.id for event in events])
        table["at_ns"] = _ns(event.ts for event in events)
        table["thread"] = [self._threads[event.pid, event.tid] for event in events]
        table["is_end"] = [event.ph == "f" for event in events]
        self._flows.append(table)

    def _add_names(self, events: list[_Event]) -> None:
        for event in events:
            if event.name == "thread_name" and event.args and isinstance(event.args.name, str):
                self._thread_names[self._threads[event.pid, event.tid]] = event.args.name

    def trace(self, path: Path, text: TraceText[_Event]) -> Trace:
        base = text.head.get("baseTimeNanoseconds", 0)
        base_ns = int(base) if isinstance(base, int | float) else 0
        events, memory, flows = (
            _joined(self._parts, EVENT_DTYPE),
            _joined(self._memory, MEMORY_DTYPE),
            _joined(self._flows, FLOW_DTYPE),
        )
        for table, column in ((events, "start_ns"), (memory, "at_ns"), (flows, "at_ns")):
            table[column] += base_ns
        threads = [
            Thread(str(process), str(thread), self._thread_names.get(number))
            for (process, thread), number in self._threads.items()
        ]
        shapes = [
            Shapes(*(part.decode("utf-8", "replace") for part in key)) for key in self._shapes
        ]
        return Trace(
            path,
            list(self._names),
            threads,
            shapes,
            events,
            memory,
            flows,
            text.head,
            self._notes(text),
        )

    def _notes(self, text: TraceText[_Event]) -> list[str]:
        name, notes = text._path.name, []
        if text.is_cut_off:
            notes.append(f"{name} is cut off: what was written up to there is shown.")
        if text.dropped:
            notes.append(f"{name}: {text.dropped:,} events are damaged and left out.")
        if self._unread:
            notes.append(f"{name}: {self._unread:,} events without a duration are left out.")
        return notes


def _category(event: _Event) -> int:
    if event.cat is None:
        return Category.OP if event.pid == _LEGACY_PROCESS else Category.OTHER
    found = _CATEGORIES.get(event.cat)
    return _CATEGORIES.get(event.cat.lower(), Category.OTHER) if found is None else found


def _joined(parts: list[npt.NDArray[Any]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    joined = np.concatenate(parts) if parts else np.zeros(0, dtype)
    parts.clear()
    return joined


def _ns(values: Iterable[Any]) -> Ints:
    """From microseconds; what is no number is 0."""
    us = _numbers(list(values), np.float64, float)
    sane = np.where(np.isfinite(us) & (np.abs(us) < _FARTHEST_US), us, 0.0)
    whole = np.floor(sane)  # of Unix time in ns a float knows only every 256th
    ns: Ints = whole.astype(np.int64) * 1000 + np.rint((sane - whole) * 1000).astype(np.int64)
    return ns


def _integers(values: list[Any]) -> Ints:
    numbers: Ints = _numbers(values, np.int64, int)
    return numbers


def _numbers(values: list[Any], dtype: type, convert: Callable[[Any], Any]) -> npt.NDArray[Any]:
    try:
        return np.fromiter(values, dtype, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter((_number(value, convert) for value in values), dtype, len(values))


def _number(value: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        number = convert(value)
        return number if abs(number) < 2**62 else 0
    except (TypeError, ValueError, OverflowError):
        return 0 if convert is float else _NONE
