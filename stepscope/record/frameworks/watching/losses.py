"""The losses of the training, with --losses: what counts as one, and when its value is read.

A value that a device computes is kept and read later: to read it at once would make every step wait
for the device. It is read together with others, or when the recording ends.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes, running_recording
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

Read = Callable[[Any], float]

_MOST_WAITING: Final = 100  # at most one step in so many waits for the device
_LEVELS: Final = 3  # the result, its parts, and theirs: ((loss, metrics), gradients)
_guarded: Final = notes.guard("A loss was not recorded")


class _Waiting(NamedTuple):
    label: str
    at_ticks: int
    value: Any
    read: Read
    flags: int


class _Here(threading.local):
    is_reported = False  # what runs on this thread reports its losses itself, as Keras does


here: Final = _Here()
_waiting: list[_Waiting] = []
_owner = 0  # the process that they belong to
_readers: dict[type, Read] = {}


def when_wanted(watch: Callable[[], object]) -> None:
    """Call `watch` when a recording runs that keeps losses; never if it does not."""

    def begins(recording: RunningRecording) -> None:
        if recording.options.losses:
            watch()
            running_recording.before_end(read_all)

    running_recording.when_running(begins)


def read_with(kind: type, read: Read) -> None:
    """How the value of a framework's array is read."""
    _readers[kind] = read


# --- keeping --------------------------------------------------------------------------------------


def keep(label: str, at_ticks: int, value: Any, flags: int = 0) -> None:
    """A loss that was computed at `at_ticks`. `label`: where it comes from."""
    read = _reader_of(value)
    if read is float:
        record(label, at_ticks, float(value), flags)
    elif read is not None:
        read_later(label, at_ticks, value, read, flags)


def read_later(label: str, at_ticks: int, value: Any, read: Read, flags: int = 0) -> None:
    """The value must not change in the meantime."""
    global _owner
    if _owner != os.getpid():  # a forked child: its parent reads those
        _waiting.clear()
        _owner = os.getpid()
    _waiting.append(_Waiting(label, at_ticks, value, read, flags))
    if len(_waiting) >= _MOST_WAITING:
        read_all()


def record(label: str, at_ticks: int, value: float, flags: int = 0) -> None:
    if naming.name_id is not None:
        _core.loss(naming.name_id(label), at_ticks, value, flags=flags)


@compiled_graphs.are_not_for
def read_all() -> None:
    waiting = _waiting[:]
    _waiting.clear()
    if not waiting or naming.name_id is None or _owner != os.getpid():
        return
    span = _core.span_begin(naming.name_id("losses"), SpanCategory.PROFILER)
    for loss in waiting:
        _guarded(_read, loss)
    _core.span_end(span)


def _read(loss: _Waiting) -> None:
    record(loss.label, loss.at_ticks, loss.read(loss.value), loss.flags)


# --- which value it is ----------------------------------------------------------------------------


def found_in(result: Any) -> list[Any]:
    """The losses in what a training function returned: the floats nearest to the surface. Deeper
    ones may be parameters. Where names say which of them are losses, only those."""
    level: list[tuple[str, Any]] = [("", result)]
    for _ in range(_LEVELS):
        floats = [(name, value) for name, value in level if is_float(value)]
        if floats:
            return [value for name, value in floats if _says_loss(name)] or [v for _, v in floats]
        level = [part for _, value in level for part in _parts(value)]
    return []


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        parts = [(str(name), part) for name, part in value.items()]
        named = [(name, part) for name, part in parts if _says_loss(name)]
        is_metrics = all(is_float(part) for _, part in parts)
        return named or (parts if is_metrics else [])
    if isinstance(value, tuple | list):
        names = getattr(value, "_fields", ("",) * len(value))
        return list(zip(names, value, strict=False))
    return []


def _says_loss(name: str) -> bool:
    return "loss" in name.lower()


def is_float(value: Any) -> bool:
    """A single one."""
    if isinstance(value, float):
        return True
    if _reader_of(value) is None:
        return False
    return len(value.shape) == 0 and "float" in str(value.dtype)


def _reader_of(value: Any) -> Read | None:
    kind = type(value)
    if isinstance(value, float) or kind.__module__ == "numpy":
        return float
    return next((_readers[base] for base in kind.__mro__ if base in _readers), None)
