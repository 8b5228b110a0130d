"""The JSON files of a run folder as typed records; `format.py` says what the fields mean."""

from typing import Annotated, Any, Literal

import msgspec

from stepscope.model import Role

# Bounded, so that a damaged file cannot contain numbers that overflow later.
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
LineNumber = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Ratio = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
Ticks = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    host: str | None = None
    system: str | None = None
    cpu: str | None = None
    cpu_features: list[str] | None = None
    cores: int | None = None
    memory_bytes: Natural | None = None
    container_memory_bytes: Natural | None = None
    container_cores: float | None = None


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    command: list[str] = []
    cwd: str | None = None
    script: str | None = None
    started_realtime_ns: Natural | None = None
    machine: Machine = Machine()
    versions: dict[str, Any] = {}
    git: dict[str, Any] | None = None
    options: dict[str, Any] = {}
    launcher: dict[str, Any] | None = None
    copied_from: dict[str, str] = {}  # folders that it ran in, and those that they are copies of
    imported_from: list[str] = []  # files of other tools; empty: recorded by us


class Supervisor(msgspec.Struct, frozen=True, kw_only=True):
    pid: Natural | None = None
    exit_status: int | None = None
    signal: int | str | None = None
    started_monotonic_ns: Natural | None = None
    ended_monotonic_ns: Natural | None = None
    ended_realtime_ns: Natural | None = None
    float64_ratio: Annotated[float, msgspec.Meta(ge=1, le=100)] | None = None


class MeasuredGain(msgspec.Struct, frozen=True, kw_only=True):
    """What a fix that was tried for a finding gains: a ratio of mean steps, and its range."""

    fix: str
    finding: str
    file: str | None = None  # where the finding is
    line: LineNumber | None = None
    speedup: Ratio
    low: Ratio
    high: Ratio
    rounds: Natural
    on_top_of: list[str] = []  # fixes that were kept before
    is_ceiling: bool = False  # no fix for this can gain more
    reason: str | None = None  # why it was not kept


class MeasuredGains(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    fixes: list[MeasuredGain]


class ProcessInfo(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    role: Role
    rank: Natural | None
    pid: Natural
    parent_pid: Natural | None = None
    host: str = ""
    python: str | None = None
    argv: list[str] = []
    started_realtime_ns: Natural | None = None
    process_start_realtime_ns: Natural | None = None
    ticks_per_ns: Ticks = 1.0
    event_cost_ticks: Ticks = 0.0
    exit_cost_ticks: Ticks = 0.0
    call_cost_ticks: Ticks = 0.0
    status: Literal["running", "ended", "stopped"] = "running"
    ended_ticks: Natural | None = None
    trace: str | None = None  # the file beside this one that another tool wrote: all there is
    trace_shift_ns: Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)] = 0


class FileName(msgspec.Struct, frozen=True, tag_field="is", tag="file"):
    id: Natural
    path: str
    source: str | None = None


class CodeName(msgspec.Struct, frozen=True, tag_field="is", tag="code"):
    id: Natural
    file: Natural
    function: str
    first_line: LineNumber
    lines: LineNumber = 0
    kind: str = "function"


class LoopName(msgspec.Struct, frozen=True, tag_field="is", tag="loop"):
    id: Natural
    code: Natural
    line: LineNumber
    last_line: LineNumber
    parent: Natural | None = None


class ThreadName(msgspec.Struct, frozen=True, tag_field="is", tag="thread"):
    id: Natural
    name: str = ""
    native_id: int | None = None
    main: bool = False


class SpanName(msgspec.Struct, frozen=True, tag_field="is", tag="name"):
    id: Natural
    name: str


class OpenName(msgspec.Struct, frozen=True, tag_field="is", tag="open"):
    id: Natural
    path: str
    code: Natural | None = None
    line: LineNumber | None = None


class FunctionName(msgspec.Struct, frozen=True, tag_field="is", tag="function"):
    id: Natural
    file: str
    line: LineNumber
    name: str
    native: bool = False


class Note(msgspec.Struct, frozen=True, tag_field="is", tag="note"):
    text: str
    severity: str = "info"


AnyName = FileName | CodeName | LoopName | ThreadName | SpanName | OpenName | FunctionName | Note


class Names(msgspec.Struct):
    """What the numbers in a process's .bin files stand for."""

    files: dict[int, FileName] = {}
    codes: dict[int, CodeName] = {}
    loops: dict[int, LoopName] = {}
    threads: dict[int, ThreadName] = {}
    spans: dict[int, SpanName] = {}
    opens: dict[int, OpenName] = {}
    functions: dict[int, FunctionName] = {}
    notes: list[Note] = []

    def code_and_file(self, code_id: int | None) -> tuple[CodeName, FileName] | None:
        """None unless both are known: names may be missing from a damaged run."""
        code = self.codes.get(code_id) if code_id is not None else None
        file = self.files.get(code.file) if code is not None else None
        return (code, file) if code is not None and file is not None else None

    def add(self, name: AnyName) -> None:
        match name:
            case FileName():
                self.files[name.id] = name
            case CodeName():
                self.codes[name.id] = name
            case LoopName():
                self.loops[name.id] = name
            case ThreadName():
                self.threads[name.id] = name
            case SpanName():
                self.spans[name.id] = name
            case OpenName():
                self.opens[name.id] = name
            case FunctionName():
                self.functions[name.id] = name
            case Note():
                self.notes.append(name)
