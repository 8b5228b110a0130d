"""Traces of torch.profiler (Kineto's JSON, plain or gzipped), old and new, whole or damaged."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.columns import Builder
from stepscope.importers.kineto.events import Event, rows_of
from stepscope.importers.kineto.rows import (
    Rows,
    Scalar,
    read_rows,
    shapes_of,
    string_of,
    thread_of,
)
from stepscope.importers.kineto.text import Taken, TraceText, base_ns
from stepscope.importers.runtime_names import framework_of
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
    "fee": Category.PYTHON,  # VizTracer: function entry and exit
    "mtia_ccp_events": Category.KERNEL,
    "mtia_runtime": Category.RUNTIME,
    "privateuse1_runtime": Category.RUNTIME,
    "hpu_op": Category.KERNEL,
}
# Named ranges that older versions write as operators.
_RANGES: Final = (
    "ProfilerStep#", "enumerate(DataLoader)#", "enumerate(DataPipe)#", "Optimizer.step#",
    "Optimizer.zero_grad#",
)  # fmt: skip
_OF_TORCH: Final = ("aten::", "ProfilerStep#", "enumerate(DataLoader)#", "Optimizer.")
_FLOWS: Final = (b"fwdbwd", b"forward_backward")
_MEMORY: Final = b"[memory]"
_THREAD_NAME: Final = b"thread_name"
_PROCESS_NAME: Final = b"process_name"
_LEGACY_PROCESS: Final = "CPU functions"  # autograd's own export: a bare list without categories
_FARTHEST_US: Final = 2.0**61 / 1000
_SAME: Final = ("external", "correlation", "sequence", "stream")  # same name in rows and in events


def read_kineto(path: str | Path) -> Trace:
    """The whole trace, in columns: about 30 bytes per event."""
    reader = _Reader()
    text = TraceText(Path(path), Event, take=reader.take)
    for events in text:
        reader.add(rows_of(events))
    return reader.trace(Path(path), text)


class _Reader:
    def __init__(self) -> None:
        self._names: Numbers[str] = Numbers()
        self._are_ranges: list[bool] = []  # of the names so far
        self._threads: Numbers[tuple[Scalar, Scalar]] = Numbers()
        self._shapes: Numbers[tuple[bytes, bytes, bytes]] = Numbers()
        self._events = Builder(EVENT_DTYPE)
        self._memory: list[npt.NDArray[Any]] = []
        self._flows: list[npt.NDArray[Any]] = []
        self._thread_names: dict[int, str] = {}
        self._process_names: dict[Scalar, str] = {}
        self._unread = 0
        self._untimed = 0
        self._backwards = 0

    def take(self, text: bytes) -> Taken:
        """Reads what the C core can read of the text."""
        rows, end = read_rows(text)
        self.add(rows)
        return Taken(len(rows), end)

    def add(self, rows: Rows) -> None:
        self._add_complete(rows, self._timed(rows.of("X")))
        instants, flows = self._timed(rows.of("i", "I")), self._timed(rows.of("s", "f", "t"))
        self._add_memory(rows, instants[rows.is_one_of(instants["name"], _MEMORY)])
        self._add_flows(rows, flows[rows.is_one_of(flows["category"], *_FLOWS)])
        self._add_thread_names(rows, rows.of("M"))
        self._unread += len(rows.of("B", "E"))

    def _timed(self, events: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Those that say when they were."""
        us = events["ts_us"]
        sane = np.isfinite(us) & (np.abs(us) < _FARTHEST_US)
        self._untimed += int((~sane).sum())
        kept: npt.NDArray[Any] = events if sane.all() else events[sane]
        return kept

    def _add_complete(self, rows: Rows, events: npt.NDArray[Any]) -> None:
        if not len(events):
            return
        table = no_events(len(events))
        table["start_ns"] = _ns(events["ts_us"])
        self._backwards += int((events["dur_us"] < 0).sum())
        table["duration_ns"] = np.maximum(_ns(events["dur_us"]), 0)
        table["name"] = rows.numbered(events["name"], lambda raw: self._names[string_of(raw)])
        table["thread"] = self._thread(rows, events)
        table["category"] = self._category(rows, events, table["thread"])
        table["category"][self._is_range(table)] = Category.ANNOTATION
        table["shapes"] = rows.numbered(events["shapes"], lambda raw: self._shapes[shapes_of(raw)])
        for name in _SAME:
            table[name] = events[name]
        table["device"] = np.clip(events["device"], -1, 2**31 - 1)
        table["bytes"] = events["copied_bytes"]
        self._events.add(table)

    def _thread(self, rows: Rows, events: npt.NDArray[Any]) -> Ints:
        return rows.numbered(events["thread"], lambda raw: self._threads[thread_of(raw)])

    def _category(self, rows: Rows, events: npt.NDArray[Any], thread: Ints) -> Ints:
        known = rows.numbered(events["category"], _category)
        is_legacy = np.array([process == _LEGACY_PROCESS for process, _ in self._threads])
        unknown = np.where(is_legacy[thread], Category.OP, Category.OTHER)
        return np.where(known >= 0, known, unknown)

    def _is_range(self, table: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        new = itertools.islice(self._names, len(self._are_ranges), None)
        self._are_ranges += [name.startswith(_RANGES) for name in new]
        named = np.array(self._are_ranges, np.bool_)
        found: npt.NDArray[np.bool_] = (table["category"] == Category.OP) & named[table["name"]]
        return found

    def _add_memory(self, rows: Rows, events: npt.NDArray[Any]) -> None:
        if not len(events):
            return
        table = np.zeros(len(events), MEMORY_DTYPE)
        table["at_ns"] = _ns(events["ts_us"])
        table["thread"] = self._thread(rows, events)
        table["bytes"] = events["bytes"]
        table["is_device"] = events["device_type"] > 0
        table["address"] = events["address"].astype(np.uint64)
        self._memory.append(table)

    def _add_flows(self, rows: Rows, events: npt.NDArray[Any]) -> None:
        if not len(events):
            return
        table = np.zeros(len(events), FLOW_DTYPE)
        table["id"] = events["id"]
        table["at_ns"] = _ns(events["ts_us"])
        table["thread"] = self._thread(rows, events)
        table["is_end"] = events["phase"] == ord("f")
        self._flows.append(table)

    def _add_thread_names(self, rows: Rows, events: npt.NDArray[Any]) -> None:
        events = events[events["args_name"] >= 0]
        for thread, name in _pairs(rows, events, _THREAD_NAME):
            self._thread_names[self._threads[thread_of(thread)]] = string_of(name)
        for thread, name in _pairs(rows, events, _PROCESS_NAME):
            self._process_names[thread_of(thread)[0]] = string_of(name)

    def trace(self, path: Path, text: TraceText[Event]) -> Trace:
        events = self._events.columns()
        memory, flows = _joined(self._memory, MEMORY_DTYPE), _joined(self._flows, FLOW_DTYPE)
        threads = [
            Thread(
                str(process),
                str(thread),
                self._thread_names.get(number),
                self._process_names.get(process),
            )
            for (process, thread), number in self._threads.items()
        ]
        shapes = [
            Shapes(*(part.decode("utf-8", "replace") for part in key)) for key in self._shapes
        ]
        trace = Trace(
            path,
            list(self._names),
            threads,
            shapes,
            events.as_table(),
            memory,
            flows,
            text.head,
            self._notes(text),
            framework=_framework(self._names, text.head),
        )
        return trace.shifted(base_ns(text.head))

    def _notes(self, text: TraceText[Event]) -> list[str]:
        name, notes = text._path.name, []
        if text.limit is not None:
            notes.append(text.limit)
        elif text.is_cut_off:
            notes.append(f"{name} is cut off: what was written up to there is shown.")
        if text.dropped:
            what = "1 event is" if text.dropped == 1 else f"{text.dropped:,} events are"
            notes.append(f"{name}: {what} damaged and left out.")
        if self._unread:
            notes.append(f"{name}: {self._unread:,} events without a duration are left out.")
        if self._untimed:
            notes.append(f"{name}: {_counted(self._untimed)} no time: left out.")
        if self._backwards:
            notes.append(f"{name}: {_counted(self._backwards)} a negative duration, taken as none.")
        return notes


def _counted(count: int) -> str:
    return f"{count:,} event has" if count == 1 else f"{count:,} events have"


def _pairs(rows: Rows, events: npt.NDArray[Any], what: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The thread and the name that each event of this kind gives it."""
    events = events[rows.is_one_of(events["name"], what)]
    for thread, name in zip(events["thread"].tolist(), events["args_name"].tolist(), strict=True):
        yield rows.text(thread), rows.text(name)


def _framework(names: Iterable[str], head: dict[str, Any]) -> str:
    """JAX and TensorFlow write such files too, without Kineto's version in their head."""
    if "schemaVersion" in head or any(name.startswith(_OF_TORCH) for name in names):
        return "torch"
    return framework_of(names) or "torch"


def _category(raw: bytes) -> int:
    word = string_of(raw)
    found = _CATEGORIES.get(word)
    return _CATEGORIES.get(word.lower(), Category.OTHER) if found is None else found


def _joined(parts: list[npt.NDArray[Any]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    joined = np.concatenate(parts) if parts else np.zeros(0, dtype)
    parts.clear()
    return joined


def _ns(us: npt.NDArray[np.float64]) -> Ints:
    """From microseconds; what is not a number is 0."""
    sane = np.where(np.isfinite(us) & (np.abs(us) < _FARTHEST_US), us, 0.0)
    whole = np.floor(sane)  # a float can only hold every 256th nanosecond of Unix time
    ns: Ints = whole.astype(np.int64) * 1000 + np.rint((sane - whole) * 1000).astype(np.int64)
    return ns
