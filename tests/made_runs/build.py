"""Builds run folders by hand, byte by byte as in the format, for tests with known numbers."""

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from columns import packed
from stepscope.store import format as fmt
from stepscope.store.events import Events, LoopStamps, Moments, Opens, Spans, StepMarks
from stepscope.store.format import EventKind, SpanCategory

MS = 1_000_000
START_NS = 5_000 * MS  # monotonic time at which recording begins
WALL_OFFSET_NS = 1_700_000_000_000_000_000  # Unix time of monotonic 0
BOOT_NS = 20 * MS  # from the start of a process to its recording
BASE = 0x7F00_0000_0000  # address of lines.bin in the recorded process
CWD = "/home/ada/project"


class RunBuilder:
    """A run folder; times given to it are ns since recording began."""

    def __init__(self, path: Path, **fields: Any) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        info = {
            "format": fmt.FORMAT_VERSION,
            "command": ["train.py"],
            "cwd": CWD,
            "script": f"{CWD}/train.py",
            "started_realtime_ns": START_NS + WALL_OFFSET_NS,
            "machine": {"host": "here", "memory_bytes": 2**34, "container_memory_bytes": 2**33},
            "versions": {},
            "git": None,
            "options": {"budget_share": 0.03},
            "launcher": None,
        }
        self.write_json(fmt.RUN_FILE, info | fields)

    def write_json(self, name: str, value: Any) -> None:
        (self.path / name).write_text(json.dumps(value))

    def supervisor(self, ended_ns: int, exit_status: int | None = 0, signal: Any = None) -> None:
        fields = {
            "pid": 1,
            "exit_status": None if signal else exit_status,
            "signal": signal,
            "started_monotonic_ns": START_NS - 50 * MS,
            "ended_monotonic_ns": START_NS + ended_ns,
            "ended_realtime_ns": START_NS + ended_ns + WALL_OFFSET_NS,
        }
        self.write_json(fmt.SUPERVISOR_FILE, fields)

    def process(self, pid: int = 100, **fields: Any) -> "ProcessBuilder":
        return ProcessBuilder(self, pid, fields)

    def source(self, text: str) -> str:
        name = hashlib.sha1(text.encode()).hexdigest()
        folder = self.path / fmt.SOURCES_FOLDER
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        return name


class ProcessBuilder:
    """One process; `write` writes its files. `ticks_per_ns` other than 1 makes it a counter."""

    def __init__(self, run: RunBuilder, pid: int, fields: dict[str, Any]) -> None:
        self.run = run
        self.ticks_per_ns = int(fields.pop("ticks_per_ns", 1))
        self.last_ns = 0
        self.names: list[dict[str, Any]] = []
        self.events: list[tuple[int, ...]] = []
        self.blocks: list[bytes] = []
        self.call_nodes: list[bytes] = []
        self.call_stacks: list[bytes] = []
        self.stacks: list[bytes] = []  # records of samples.bin
        self.info: dict[str, Any] = {
            "format": fmt.FORMAT_VERSION,
            "role": "main",
            "rank": None,
            "pid": pid,
            "parent_pid": 1,
            "host": "here",
            "python": "3.12.1",
            "argv": ["train.py"],
            "started_realtime_ns": START_NS + WALL_OFFSET_NS,
            "process_start_realtime_ns": START_NS + WALL_OFFSET_NS - BOOT_NS,
            "ticks_per_ns": float(self.ticks_per_ns),
            "event_cost_ticks": 0.0,
            "exit_cost_ticks": 0.0,
            "status": "ended",
            "ended_ticks": None,
        } | fields
        self.name("thread", name="MainThread", native_id=pid, main=True)
        self.clock(0)

    @property
    def folder(self) -> Path:
        return self.run.path / f"proc-{self.info['rank'] or 0}-here-{self.info['pid']}"

    def ticks(self, at_ns: int) -> int:
        return (START_NS + at_ns) * self.ticks_per_ns

    # names

    def name(self, kind: str, /, **fields: Any) -> int:
        """Returns the id: ids count up from 1 within each kind."""
        number: int = 1 + sum(name["is"] == kind for name in self.names)
        self.names.append({"is": kind, "id": number} | fields)
        return number

    def file(self, path: str = f"{CWD}/train.py", text: str | None = None) -> int:
        source = self.run.source(text) if text is not None else None
        return self.name("file", path=path, source=source)

    def code(
        self, function: str = "train", *, file: int = 0, first_line: int = 1, kind: str = "function"
    ) -> int:
        return self.name(
            "code", file=file or self.file(), function=function, first_line=first_line, lines=20,
            kind=kind,
        )  # fmt: skip

    def loop(
        self, code: int, line: int, last_line: int, parent: int | None = None, **fields: Any
    ) -> int:
        where = {"code": code, "line": line, "last_line": last_line, "parent": parent}
        return self.name("loop", **(where | fields))

    def thread(self, name: str = "Thread-1") -> int:
        return self.name("thread", name=name, native_id=7, main=False)

    # events

    def event(
        self, table: type[Events], name: int, start: int, end: int = 0, *, thread: int = 1,
        **columns: int,
    ) -> None:  # fmt: skip
        """`start` and `end` in ticks; `columns` by the names that the store has for them."""
        fields = {"end": end} | packed(table, columns)
        self._record(table.kind, name, start, thread=thread, **fields)

    def _record(self, kind: EventKind, name: int, start: int, **fields: int) -> None:
        rest = (fields.get(each, 0) for each in ("end", "thread", "extra", "value0", "value1"))
        self.events.append((fmt.EVENT_TAG | kind, name, start, *rest))

    def unknown_event(self, at_ns: int) -> None:
        """Of a kind that no reader knows."""
        self.events.append((fmt.EVENT_TAG | 0x7F, 0, self.ticks(at_ns), 0, 1, 0, 9, 0))

    def clock(self, at_ns: int) -> None:
        monotonic = START_NS + at_ns
        wall = monotonic + WALL_OFFSET_NS
        self._record(EventKind.CLOCK, 0, self.ticks(at_ns), end=monotonic, thread=1, value0=wall)

    def _seen(self, at_ns: int) -> None:
        self.last_ns = max(self.last_ns, at_ns)

    def stamp(
        self, loop: int, at_ns: int, *, before: int, activation: int = 0, thread: int = 1
    ) -> None:
        self._seen(at_ns)
        self.event(
            LoopStamps, loop, self.ticks(at_ns), self.ticks(activation), line_before=before,
            thread=thread,
        )  # fmt: skip

    def for_loop(
        self, loop: int, at_ns: int, turns_ns: Sequence[int], *, activation: int = 0,
        thread: int = 1, runs_out: bool = True,
    ) -> int:  # fmt: skip
        """A `for` loop of len(turns) turns that starts at `at_ns`; returns when it ended."""
        fields = next(n for n in self.names if n["is"] == "loop" and n["id"] == loop)
        before = fields["line"] - 1
        for lasted in turns_ns:
            self.stamp(loop, at_ns, before=before, activation=activation, thread=thread)
            before, at_ns = fields["last_line"], at_ns + lasted
        if runs_out:
            self.stamp(loop, at_ns, before=before, activation=activation, thread=thread)
        self._seen(at_ns)
        return at_ns

    def step(self, at_ns: int, samples: int = 0, *, begins: bool = False) -> None:
        self._seen(at_ns)
        self.event(StepMarks, 0, self.ticks(at_ns), samples=samples, who=int(begins))

    def loss(self, at_ns: int, value: float, *, is_running_mean: bool = False) -> None:
        self._seen(at_ns)
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        flags = int(is_running_mean)
        self._record(EventKind.LOSS, 0, self.ticks(at_ns), thread=1, value0=bits, extra=flags)

    def span(
        self, category: SpanCategory, start_ns: int, end_ns: int | None, *, name: str = "",
        thread: int = 1, **columns: int,
    ) -> None:  # fmt: skip
        self._seen(end_ns or start_ns)
        end = 0 if end_ns is None else self.ticks(end_ns)
        number = self.span_name(name) if name else 0
        columns["category"] = category
        self.event(Spans, number, self.ticks(start_ns), end, thread=thread, **columns)

    def span_name(self, name: str) -> int:
        """Its id: a new one only for a new name."""
        known = [n["id"] for n in self.names if n["is"] == "name" and n["name"] == name]
        return known[0] if known else self.name("name", name=name)

    def opened(
        self, name: int, start_ns: int, end_ns: int | None, *, at_ns: int | None = None,
        writing: bool = False, thread: int = 1,
    ) -> None:  # fmt: skip
        end = 0 if end_ns is None else self.ticks(end_ns)
        at = self.ticks(start_ns if at_ns is None else at_ns)
        self._seen(end_ns or start_ns)
        columns = {"opened_at_ns": at, "is_writing": writing}
        self.event(Opens, name, self.ticks(start_ns), end, thread=thread, **columns)

    def counter(self, table: type[Moments], at_ns: int, **columns: int) -> None:
        self._seen(at_ns)
        self.event(table, 0, self.ticks(at_ns), **columns)

    # calls.bin

    def root(self, thread: int = 1) -> int:
        """A thread's tree; returns what `call` takes as parent."""
        return self._call_node(fmt.CallsKind.ROOT, 0xFFFFFFFF, thread, 1, 0)

    def call(self, parent: int, function: int, calls: int, ns: int) -> int:
        ticks = ns * self.ticks_per_ns
        return self._call_node(fmt.CallsKind.NODE, function, parent, calls, ticks)

    def _call_node(self, kind: int, function: int, parent: int, calls: int, ticks: int) -> int:
        fields = fmt.CALLS_TAG | kind, function, parent, 0, calls, ticks, 0, 0
        offset = fmt.HEADER.size + fmt.BLOCK.size + fmt.CALL_NODE.size * len(self.call_nodes)
        self.call_nodes.append(fmt.CALL_NODE.pack(*fields))
        return offset // fmt.CALLS_UNIT

    def open_calls(self, *entries: tuple[int, int]) -> None:
        """A thread's stack: (node, since ns), the root first."""
        packed = [
            fmt.CALL_ENTRY.pack(BASE + node * fmt.CALLS_UNIT, self.ticks(since), 1)
            for node, since in entries
        ]
        self.call_stacks += [*packed, bytes(fmt.CALL_ENTRY.size)]

    def _call_blocks(self) -> bytes:
        blocks = [(fmt.CallsKind.NODES, self.call_nodes), (fmt.CallsKind.STACK, self.call_stacks)]
        written = b""
        for kind, entries in blocks:
            body = b"".join(entries)
            body += bytes(-len(body) % fmt.CALLS_UNIT)
            head = fmt.CALLS_TAG | kind, fmt.BLOCK.size + len(body), 1, 0, len(entries)
            written += fmt.BLOCK.pack(*head, 0, 0, 0, 0) + body
        return written

    # lines.bin

    def lines(
        self, code: int, first_line: int, entries: Iterable[tuple[int, int]], *, calls: int = 1,
        exits: int = 0, flags: int = 0, sampled_ns: int = 0,
    ) -> None:  # fmt: skip
        """Entries are (hits, ns) from `first_line` on."""
        scale = self.ticks_per_ns
        packed = [fmt.LINE.pack(hits, ns * scale, sampled_ns * scale) for hits, ns in entries]
        self._block(fmt.BlockKind.CODE, packed, code, first_line, flags, calls, exits)

    def open_lines(self, entries: Sequence[tuple[int, int]]) -> None:
        """A thread's stack: (offset of the running line's entry in the file, since ns)."""
        none = fmt.ACTIVATION.pack(1, 0, 0, 0xDEAD, 0, 0, 0, 0)
        packed = [
            fmt.ACTIVATION.pack(2, 3, 4, BASE + offset, self.ticks(since), 0, 0, 0)
            for offset, since in entries
        ]
        self._block(fmt.BlockKind.THREAD, [none, *packed, bytes(fmt.ACTIVATION.size)], 1)

    def next_entry_offset(self) -> int:
        """Where the first entry of the next block will be."""
        return fmt.HEADER.size + sum(map(len, self.blocks)) + fmt.BLOCK.size

    def _block(self, kind: int, entries: Sequence[bytes], number: int, *fields: int) -> None:
        first_line, flags, calls, exits = (*fields, 0, 0, 0, 0)[:4]
        size = fmt.BLOCK.size + sum(map(len, entries))
        head = fmt.BLOCK.pack(
            fmt.BLOCK_TAG | kind, size, number, first_line, len(entries), flags, calls, exits, 0
        )
        self.blocks.append(head + b"".join(entries))

    # samples.bin

    def function(
        self, name: str, *, file: str = f"{CWD}/train.py", line: int = 1, native: bool = False
    ) -> int:
        return self.name("function", file=file, line=line, name=name, native=native)

    def node(self, function: int, parent: int = 0, line: int = 1) -> int:
        """Returns its number."""
        tag = fmt.SAMPLES_TAG | fmt.SamplesKind.NODE
        self.stacks.append(fmt.NODE.pack(tag, function, parent, line))
        return len(self.stacks)

    def sample(
        self,
        node: int,
        start_ns: int,
        lasted_ns: int,
        *,
        thread: int = 1,
        count: int = 1,
        kind: fmt.SamplesKind = fmt.SamplesKind.SAMPLE,
    ) -> None:
        self._seen(start_ns + lasted_ns)
        tag = fmt.SAMPLES_TAG | kind
        weight = lasted_ns * self.ticks_per_ns
        self.stacks.append(fmt.SAMPLE.pack(tag, thread, node, count, self.ticks(start_ns), weight))

    def write(self, ended_ns: int | None = None) -> None:
        """`ended_ns`: the end that it recorded itself; by default the last event."""
        last = self.last_ns if ended_ns is None else ended_ns
        self.clock(last)
        if self.info["status"] != "running":
            self.info["ended_ticks"] = self.ticks(last)
        self.folder.mkdir(exist_ok=True)
        (self.folder / fmt.PROCESS_FILE).write_text(json.dumps(self.info))
        names = "".join(json.dumps(name) + "\n" for name in self.names)
        (self.folder / fmt.NAMES_FILE).write_text(names)
        events = b"".join(fmt.EVENT.pack(*event) for event in self.events)
        self._write_stream(fmt.EVENTS_FILE, fmt.Stream.EVENTS, events)
        self._write_stream(fmt.LINES_FILE, fmt.Stream.LINES, b"".join(self.blocks))
        if self.call_nodes:
            self._write_stream(fmt.CALLS_FILE, fmt.Stream.CALLS, self._call_blocks())
        if self.stacks:
            self._write_stream(fmt.SAMPLES_FILE, fmt.Stream.SAMPLES, b"".join(self.stacks))

    def _write_stream(self, name: str, stream: fmt.Stream, body: bytes) -> None:
        kind = fmt.ClockKind.MONOTONIC if self.ticks_per_ns == 1 else fmt.ClockKind.COUNTER
        used = fmt.HEADER.size + len(body)
        head = fmt.HEADER.pack(fmt.MAGIC, fmt.FORMAT_VERSION, stream, BASE, used, kind, 0)
        # Space is reserved ahead: the unused part is zeros.
        (self.folder / name).write_bytes(head + body + bytes(4096))


def run_of_steps(path: Path, turns: int, *, is_supervised: bool = False, **info: str) -> Path:
    """One process, a loop with this many turns of 2 ms, and its lines."""
    run = RunBuilder(path)
    process = run.process(100, **info)
    code = process.code(file=process.file(text="x\n" * 9))
    end_ns = process.for_loop(process.loop(code, 4, 8), 10 * MS, [2 * MS] * turns)
    process.lines(code, 4, [(turns + 1, 0), (turns, turns * 2 * MS)])
    process.write(ended_ns=end_ns + MS)
    if is_supervised:
        run.supervisor(ended_ns=end_ns + MS)
    return path
