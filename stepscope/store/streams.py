"""The .bin files of a process: events and line counters, as far as they can be read."""

import dataclasses
import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import FARTHEST
from stepscope.errors import DataError
from stepscope.store import format as fmt
from stepscope.store.columns import Columns
from stepscope.store.plain_files import open_plain

Bytes = npt.NDArray[np.uint8]

_NUMPY_OF: Final = {"I": "<u4", "Q": "<u8"}


def record_dtype(layout: fmt.Layout) -> np.dtype[Any]:
    """As a numpy dtype, without the reserved part at the end."""
    formats = {
        name: _NUMPY_OF[kind] for name, kind in layout.fields.items() if not kind.endswith("x")
    }
    return np.dtype({"names": [*formats], "formats": [*formats.values()], "itemsize": layout.size})


EVENT_DTYPE: Final = record_dtype(fmt.EVENT)
LINE_DTYPE: Final = record_dtype(fmt.LINE)
NODE_DTYPE: Final = record_dtype(fmt.NODE)
SAMPLE_DTYPE: Final = record_dtype(fmt.SAMPLE)
SAMPLES: Final = tuple(kind for kind in fmt.SamplesKind if kind != fmt.SamplesKind.NODE)
ACTIVATION_DTYPE: Final = record_dtype(fmt.ACTIVATION)


@dataclasses.dataclass(frozen=True)
class Header:
    base: int
    clock: int


@dataclasses.dataclass(eq=False)
class CodeBlock:
    """The counters of one code object; entry i is line first_line + i."""

    code_id: int
    first_line: int
    flags: int
    calls: int
    exits: int  # resumes included
    offset: int  # of its first entry in the file
    entries: npt.NDArray[Any]  # LINE_DTYPE, our own copy
    resumes: int = 0  # how often a generator or coroutine resumed

    @property
    def hits(self) -> npt.NDArray[np.uint64]:
        hits: npt.NDArray[np.uint64] = self.entries["hits"] & np.uint64(fmt.HITS_MASK)
        return hits

    @property
    def is_thinned(self) -> bool:
        return bool(self.flags & fmt.BlockFlag.THINNED)

    @property
    def thinned_lines(self) -> npt.NDArray[np.bool_]:
        marked: npt.NDArray[np.bool_] = (self.entries["hits"] & np.uint64(fmt.HITS_THINNED)) != 0
        return marked


@dataclasses.dataclass(frozen=True, eq=False)
class Lines:
    """What lines.bin holds."""

    base: int = 0
    blocks: tuple[CodeBlock, ...] = ()
    activations: npt.NDArray[Any] = dataclasses.field(
        default_factory=lambda: np.zeros(0, ACTIVATION_DTYPE)
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """What samples.bin holds. A node's number is that of its record, counted from 1."""

    numbers: npt.NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.zeros(0, int))
    nodes: npt.NDArray[Any] = dataclasses.field(default_factory=lambda: np.zeros(0, NODE_DTYPE))
    samples: npt.NDArray[Any] = dataclasses.field(default_factory=lambda: np.zeros(0, SAMPLE_DTYPE))


def read_events(path: Path, notes: list[str]) -> tuple[npt.NDArray[Any], int]:
    """All finished events, and the kind of clock they were stamped with."""
    empty = np.zeros(0, EVENT_DTYPE), int(fmt.ClockKind.MONOTONIC)
    found = read_stream(path, fmt.Stream.EVENTS, notes)
    if found is None:
        return empty
    header, data = found
    whole = (len(data) - fmt.HEADER.size) // EVENT_DTYPE.itemsize
    body = data[fmt.HEADER.size : fmt.HEADER.size + whole * EVENT_DTYPE.itemsize]
    events = body.view(EVENT_DTYPE)
    kinds = events["tag"] ^ np.uint32(fmt.EVENT_TAG)
    bad = np.flatnonzero((kinds == 0) | (kinds > 0xFF))
    if len(bad):
        if events["tag"][bad[0]]:
            notes.append(
                f"{file_name(path)} is damaged after {bad[0]:,} events: the rest is left out."
            )
        events = events[: bad[0]]
    return events, header.clock


def by_kind(events: npt.NDArray[Any]) -> dict[int, Columns]:
    """Each kind in the order of the file."""
    kinds = (events["tag"] & np.uint32(0xFF)).astype(np.uint8)
    counts = np.bincount(kinds)
    return {
        kind: Columns.of(
            events, slice(None) if counts[kind] == len(kinds) else np.flatnonzero(kinds == kind)
        )
        for kind in np.flatnonzero(counts).tolist()
    }


def read_lines(path: Path, notes: list[str]) -> Lines:
    """All code blocks, and the activations that were open when the file was read."""
    found = read_stream(path, fmt.Stream.LINES, notes)
    if found is None:
        return Lines()
    header, data = found
    blocks: list[CodeBlock] = []
    stacks: list[npt.NDArray[Any]] = []
    at = fmt.HEADER.size
    while at + fmt.BLOCK.size <= len(data):
        tag, size, *_ = fields = fmt.BLOCK.unpack_from(data.data, at)
        if tag == 0:
            break
        if tag & ~0xFF != fmt.BLOCK_TAG or size < fmt.BLOCK.size or size % 8:
            notes.append(f"{file_name(path)} is damaged at byte {at:,}: later lines are left out.")
            break
        body = data[at + fmt.BLOCK.size : at + size]
        if tag & 0xFF == fmt.BlockKind.CODE:
            blocks.append(_code_block(fields, at + fmt.BLOCK.size, body))
        elif tag & 0xFF == fmt.BlockKind.THREAD:
            stacks.append(_open_activations(fields[4], body))
        at += size
    if at > len(data):
        notes.append(f"{file_name(path)} was cut off inside a block: its last lines are missing.")
    activations = np.concatenate(stacks) if stacks else np.zeros(0, ACTIVATION_DTYPE)
    return Lines(base=header.base, blocks=tuple(blocks), activations=activations)


def read_samples(path: Path, notes: list[str]) -> Samples:
    """All finished records up to the first damaged one; nothing if no stacks were sampled."""
    found = read_stream(path, fmt.Stream.SAMPLES, notes) if path.exists() else None
    if found is None:
        return Samples()
    _, data = found
    whole = (len(data) - fmt.HEADER.size) // NODE_DTYPE.itemsize
    body = data[fmt.HEADER.size : fmt.HEADER.size + whole * NODE_DTYPE.itemsize]
    tags = body.view(NODE_DTYPE)["tag"]
    good = _finished_samples(body)
    if good < whole and tags[good]:
        notes.append(f"{file_name(path)} is damaged after {good:,} records: the rest is left out.")
    is_node = tags[:good] == fmt.SAMPLES_TAG | fmt.SamplesKind.NODE
    return Samples(
        numbers=np.flatnonzero(is_node) + 1,
        nodes=body.view(NODE_DTYPE)[:good][is_node],
        samples=body.view(SAMPLE_DTYPE)[:good][~is_node],
    )


def _finished_samples(body: Bytes) -> int:
    """How many records can be used: those before the first that is unfinished, unknown, or that
    refers to no node before it."""
    nodes, samples = body.view(NODE_DTYPE), body.view(SAMPLE_DTYPE)
    is_node = nodes["tag"] == fmt.SAMPLES_TAG | fmt.SamplesKind.NODE
    is_sample = np.isin(nodes["tag"], [fmt.SAMPLES_TAG | kind for kind in SAMPLES])
    above = np.where(is_node, nodes["parent"], samples["node"]).astype(np.int64)
    is_before = above <= np.arange(len(nodes))
    refers = np.zeros(len(nodes), np.bool_)
    refers[is_before] = np.concatenate([[False], is_node])[above[is_before]]
    good = (is_node & (above == 0)) | ((is_node | is_sample) & refers)
    bad = np.flatnonzero(~good)
    return int(bad[0]) if len(bad) else len(nodes)


def _code_block(fields: tuple[Any, ...], offset: int, body: Bytes) -> CodeBlock:
    _, _, code_id, first_line, count, flags, calls, exits, resumes = fields
    count = min(count, len(body) // LINE_DTYPE.itemsize)
    entries = body[: count * LINE_DTYPE.itemsize].view(LINE_DTYPE).copy()
    return CodeBlock(code_id, first_line, flags, calls, exits + resumes, offset, entries, resumes)


def _open_activations(count: int, body: Bytes) -> npt.NDArray[Any]:
    count = min(count, len(body) // ACTIVATION_DTYPE.itemsize)
    entries = body[: count * ACTIVATION_DTYPE.itemsize].view(ACTIVATION_DTYPE)
    ends = np.flatnonzero(entries["frame"] == 0)
    return entries[: ends[0]] if len(ends) else entries


def account_for_open_lines(lines: Lines, end_tick: int) -> None:
    """A killed process has running lines: they get their time up to the end."""
    blocks = sorted(lines.blocks, key=lambda block: block.offset)
    offsets = [block.offset for block in blocks]
    size = LINE_DTYPE.itemsize
    for activation in lines.activations:
        offset = int(activation["current"]) - lines.base
        index = int(np.searchsorted(offsets, offset, side="right")) - 1
        if index < 0:
            continue
        entry, remainder = divmod(offset - offsets[index], size)
        elapsed = end_tick - int(activation["since"])
        if entry < len(blocks[index].entries) and not remainder and 0 < elapsed < FARTHEST:
            ticks = blocks[index].entries["ticks"]
            ticks[entry] = min(int(ticks[entry]) + elapsed, FARTHEST)


def read_stream(path: Path, stream: fmt.Stream, notes: list[str]) -> tuple[Header, Bytes] | None:
    """Header and bytes handed out so far. Read, not mapped: the recorder may cut the file."""
    try:
        with open_plain(path) as file:
            head = file.read(fmt.HEADER.size)
            header, used = _check_header(path, stream, head, notes)
            if header is None:
                return None
            size = os.fstat(file.fileno()).st_size
            if used > size:
                notes.append(f"{file_name(path)} was cut off: {used - size:,} bytes are missing.")
            end = min(used, size) if used >= fmt.HEADER.size else size
            data = np.empty(max(end, fmt.HEADER.size), np.uint8)  # once: it may be half a gigabyte
            data[: fmt.HEADER.size] = np.frombuffer(head, np.uint8)
            got = file.readinto(data[fmt.HEADER.size :].data)
    except FileNotFoundError:
        notes.append(f"{file_name(path)} is missing.")
        return None
    except OSError as error:
        notes.append(f"{file_name(path)} cannot be read: {error.strerror or error}.")
        return None
    return header, data[: fmt.HEADER.size + got]


def _check_header(
    path: Path, stream: fmt.Stream, head: bytes, notes: list[str]
) -> tuple[Header | None, int]:
    if len(head) < fmt.HEADER.size:
        notes.append(f"{file_name(path)} was cut off before its first record.")
        return None, 0
    magic, version, found, base, used, clock, state = fmt.HEADER.unpack(head)
    if magic != fmt.MAGIC or found != stream:
        if any(head):
            notes.append(f"{file_name(path)} has a damaged header: it is left out.")
        return None, 0
    if version > fmt.FORMAT_VERSION:
        raise newer_format(path, version)
    notes += _why_it_stopped(file_name(path), state)
    return Header(base=base, clock=clock), used


def _why_it_stopped(name: str, state: int) -> list[str]:
    words = {
        fmt.StreamState.FULL: f"{name} reached --max-size: what came later is missing.",
        fmt.StreamState.REFUSED: f"{name} stopped growing: the disk was full.",
        fmt.StreamState.LOST: f"{name} was cut by another program: what came later is missing.",
        fmt.StreamState.NO_MEMORY: f"{name} stopped growing: the process's memory was limited.",
    }
    return [text for stopped, text in words.items() if stopped == state]


def newer_format(path: Path, version: object) -> DataError:
    return DataError(
        f"'{path}' was written by a newer stepscope (format {version}, this one reads up to "
        f"{fmt.FORMAT_VERSION}). Upgrade with 'pip install --upgrade stepscope'."
    )


def file_name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
