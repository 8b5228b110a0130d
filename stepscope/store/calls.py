"""calls.bin: the call tree of each thread, as far as it can be read."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import FARTHEST
from stepscope.store import format as fmt
from stepscope.store.streams import Bytes, file_name, read_stream, record_dtype

Ints = npt.NDArray[np.int64]

CALL_NODE_DTYPE: Final = record_dtype(fmt.CALL_NODE)
CALL_ENTRY_DTYPE: Final = record_dtype(fmt.CALL_ENTRY)
CALLS_AT_MOST: Final = 2**53  # no function is called more often: that is damage


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclasses.dataclass(eq=False)
class Calls:
    """The nodes of all trees; a parent comes before its children."""

    is_recorded: bool = False  # --calls was given, and its file can be read
    is_whole: bool = False  # nothing is missing for lack of space, or by damage
    function: Ints = dataclasses.field(default_factory=_none)  # 0: our own; -1: a thread's root
    parent: Ints = dataclasses.field(default_factory=_none)  # index of the caller; -1 for roots
    thread: Ints = dataclasses.field(default_factory=_none)  # id of the thread, of roots; else 0
    calls: Ints = dataclasses.field(default_factory=_none)
    ticks: Ints = dataclasses.field(default_factory=_none)
    open_node: Ints = dataclasses.field(default_factory=_none)  # index of calls that were open
    open_since: npt.NDArray[np.uint64] = dataclasses.field(
        default_factory=lambda: np.zeros(0, np.uint64)
    )

    def account_for_open(self, end_tick: int) -> None:
        """A killed process has open calls: they get their time up to the end."""
        elapsed = end_tick - self.open_since.astype(np.int64)
        sane = (elapsed > 0) & (elapsed < FARTHEST)
        np.add.at(self.ticks, self.open_node[sane], elapsed[sane])
        self.open_node, self.open_since = self.open_node[:0], self.open_since[:0]


def read_calls(path: Path, notes: list[str]) -> Calls:
    """All finished nodes up to the first damaged block; nothing if no calls were recorded."""
    notes_before = len(notes)
    found = read_stream(path, fmt.Stream.CALLS, notes) if path.exists() else None
    if found is None:
        return Calls()
    header, data = found
    nodes, offsets, stacks = [], [], []
    for kind, at, body in _blocks(path, data, notes):
        if kind == fmt.CallsKind.NODES:
            entries = _finished(body)
            nodes.append(entries)
            first = at + fmt.BLOCK.size
            offsets.append(first + CALL_NODE_DTYPE.itemsize * np.arange(len(entries)))
        elif kind == fmt.CallsKind.STACK:
            stacks.append(_open_entries(body))
    if not any(map(len, nodes)):  # killed before the first was finished
        return Calls(is_recorded=True, is_whole=len(notes) == notes_before)
    calls = _tree(path, np.concatenate(nodes), np.concatenate(offsets), notes)
    _add_open_calls(calls, stacks, np.concatenate(offsets), header.base)
    calls.is_whole = len(notes) == notes_before
    return calls


def _blocks(path: Path, data: Bytes, notes: list[str]) -> Iterator[tuple[int, int, Bytes]]:
    """(kind, offset, entries) of each block."""
    at = fmt.HEADER.size
    while at + fmt.BLOCK.size <= len(data):
        tag, size, _, _, count, *_ = fmt.BLOCK.unpack_from(data.data, at)
        if tag == 0:
            return
        if tag & ~0xFF != fmt.CALLS_TAG or size < fmt.BLOCK.size or size % fmt.CALLS_UNIT:
            notes.append(f"{file_name(path)} is damaged at byte {at:,}: later calls are left out.")
            return
        body = data[at + fmt.BLOCK.size : at + size]
        kind = tag & 0xFF
        entry = CALL_NODE_DTYPE if kind == fmt.CallsKind.NODES else CALL_ENTRY_DTYPE
        whole = min(count, len(body) // entry.itemsize)
        yield kind, at, body[: whole * entry.itemsize]
        at += size
    if at > len(data):
        notes.append(f"{file_name(path)} was cut off inside a block: its last calls are missing.")


def _finished(body: Bytes) -> npt.NDArray[Any]:
    entries = body.view(CALL_NODE_DTYPE)
    free = np.flatnonzero(entries["tag"] == 0)
    return entries[: free[0]] if len(free) else entries


def _open_entries(body: Bytes) -> npt.NDArray[Any]:
    entries = body.view(CALL_ENTRY_DTYPE)
    ends = np.flatnonzero(entries["node"] == 0)
    return entries[: ends[0]] if len(ends) else entries


def _tree(path: Path, nodes: npt.NDArray[Any], offsets: Ints, notes: list[str]) -> Calls:
    """Damaged nodes stay as roots that count nothing, so that all others keep their index."""
    is_root = nodes["tag"] == fmt.CALLS_TAG | fmt.CallsKind.ROOT
    is_node = nodes["tag"] == fmt.CALLS_TAG | fmt.CallsKind.NODE
    parent = np.searchsorted(offsets, nodes["parent"].astype(np.int64) * fmt.CALLS_UNIT)
    parent = np.minimum(parent, len(nodes) - 1)
    is_node &= offsets[parent] == nodes["parent"].astype(np.int64) * fmt.CALLS_UNIT
    is_node &= parent < np.arange(len(nodes))
    is_node &= (nodes["calls"] < CALLS_AT_MOST) & (nodes["ticks"] < FARTHEST)
    damaged = int((~is_root & ~is_node).sum())
    if damaged:
        notes.append(f"{file_name(path)}: {damaged:,} of its nodes are damaged and left out.")
    return Calls(
        is_recorded=True,
        function=np.where(is_node, nodes["function"].astype(np.int64), -1),
        parent=np.where(is_node, parent, -1),
        thread=np.where(is_root, nodes["parent"].astype(np.int64), 0),
        calls=np.where(is_node, nodes["calls"], 0).astype(np.int64),
        ticks=np.where(is_node, nodes["ticks"], 0).astype(np.int64),
    )


def _add_open_calls(calls: Calls, stacks: list[npt.NDArray[Any]], offsets: Ints, base: int) -> None:
    if not stacks:
        return
    entries = np.concatenate(stacks)
    wanted = entries["node"] - np.uint64(base)  # wraps around for addresses outside
    index = np.minimum(np.searchsorted(offsets, wanted), len(offsets) - 1)
    known = offsets[index].astype(np.uint64) == wanted
    known &= calls.function[index] >= 0
    calls.open_node, calls.open_since = index[known], entries["start"][known]
