"""What `torch.cuda.memory._dump_snapshot` writes: who allocated what, and what is still there."""

import collections
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.errors import DataError
from stepscope.importers.frame_names import is_users
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import (
    MEMORY_DTYPE,
    Frame,
    KeptMemory,
    Thread,
    Trace,
    no_trace,
)
from stepscope.importers.unzip import read_whole
from stepscope.store.plain_pickle import read_plain_pickle

_ALLOCATED: Final = "alloc"
_FREED: Final = "free_completed"
_ACTIVE: Final = ("active_allocated", "active_awaiting_free", "active_pending_free")
_MOST: Final = 2**60
_LATEST_US: Final = 2**62 // 1000
_NOWHERE: Final = Frame("?", 0, "not from Python")


@register
class MemorySnapshot(Importer):
    label = "torch's memory snapshots"
    endings = (".pickle", ".pkl")

    def recognises(self, head: bytes) -> bool:
        return head[:1] == b"\x80" and b"segments" in head

    def read(self, path: Path) -> Trace:
        found = read_plain_pickle(read_whole(path)[0], str(path))
        try:
            return _trace(path, found["segments"], found["device_traces"])
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise DataError(
                f"'{path}' is not a memory snapshot: it has no segments or no history."
            ) from error


def _trace(path: Path, segments: Any, histories: Any) -> Trace:
    blocks = [block for segment in segments for block in segment.get("blocks", [])]
    active = [block for block in blocks if block.get("state") in _ACTIVE]
    actions = [each for history in histories for each in history]
    known = [each for each in actions if each.get("action") in (_ALLOCATED, _FREED)]
    return no_trace(
        path,
        threads=[Thread("device", "device")],
        memory=_memory(known),
        kept=_kept(known, active),
        head={"allocated_bytes": sum(_size(block) for block in active)},
        framework="torch",
    )


def _memory(actions: list[dict[str, Any]]) -> npt.NDArray[Any]:
    """Without times, as in old versions, they are as far apart as they are in order."""
    table = np.zeros(len(actions), MEMORY_DTYPE)
    for row, each in enumerate(actions):
        sign = 1 if each["action"] == _ALLOCATED else -1
        table["at_ns"][row] = min(max(0, int(each.get("time_us", row))), _LATEST_US) * 1000
        table["bytes"][row] = sign * _size(each)
        table["address"][row] = int(each.get("addr", 0)) & (2**64 - 1)
    table["is_device"] = True
    return table


def _kept(actions: Iterable[dict[str, Any]], active: Iterable[dict[str, Any]]) -> list[KeptMemory]:
    """By line: what was allocated while the history lasted, and what is there at its end."""
    allocated: collections.Counter[Frame] = collections.Counter()
    kept: collections.Counter[Frame] = collections.Counter()
    for each in actions:
        if each["action"] == _ALLOCATED:
            allocated[_place(each)] += _size(each)
    for block in active:
        kept[_place(block)] += _size(block)
    places = allocated | kept
    return [KeptMemory(place, allocated[place], kept[place]) for place in places]


def _place(each: dict[str, Any]) -> Frame:
    """The user's innermost line; else the innermost one in Python."""
    frames = list(_frames(each))
    return next((frame for frame in frames if is_users(frame)), frames[0] if frames else _NOWHERE)


def _frames(each: dict[str, Any]) -> Iterator[Frame]:
    """Of Python, the innermost first."""
    for frame in each.get("frames") or _of_history(each):
        file, line = str(frame.get("filename", "")), frame.get("line", 0)
        if file.endswith(".py"):
            yield Frame(file, min(max(0, int(line)), 2**31), str(frame.get("name", "?")))


def _of_history(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Where old versions have a block's frames."""
    history = block.get("history") or [{}]
    found: list[dict[str, Any]] = history[0].get("frames") or []
    return found


def _size(each: dict[str, Any]) -> int:
    return min(max(0, int(each.get("size", 0))), _MOST)
