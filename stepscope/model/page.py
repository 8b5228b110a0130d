"""What the page gets about a run in addition to the answers of `show`."""

from typing import Any, Literal

from stepscope.model import Process, Record

Called = tuple[str, str, int, str | None]  # function, file, line, library


class Facts(Record, frozen=True):
    """How and where the run was made."""

    name: str
    path: str
    script: str | None
    cwd: str | None
    host: str | None
    system: str | None
    cpu: str | None
    cores: float | None
    memory_bytes: int | None
    versions: dict[str, Any]
    git: dict[str, Any] | None
    options: dict[str, Any]
    stepscope: str  # the version that reads it; the one that recorded it is among `versions`
    is_trace: bool  # of another tool: operators and nothing else


class Recorded(Record, frozen=True):
    """Something that can be recorded: whether it was, how much, and how to get it."""

    what: str
    is_there: bool
    text: str


class StepColumns(Record, frozen=True):
    """One entry per step; `number`: as in every view. Very many steps come in groups, as means."""

    number: list[int]
    start_ns: list[int]
    duration_ns: list[int]
    measured: list[bool]
    estimated: list[bool]  # how the step divides up is partly estimated
    phases: dict[str, list[int]]
    group: int  # how many steps an entry stands for
    outliers: list[int]  # indices of entries that took far longer than the usual step
    slow_phase: list[str]  # for each outlier: what grew most


class Tree(Record, frozen=True):
    """The calls in threads of one kind: rows in order, callers before callees."""

    source: Literal["samples", "calls"]
    process: Process
    thread: str
    threads: int
    main: bool
    total_ns: int
    samples: int | None
    depth: list[int]
    function: list[int]  # index in the content's `called`
    total: list[int]
    own: list[int]
    calls: list[int] | None


class LineSamples(Record, frozen=True):
    """How a line's time was spent, and when, as the samples saw it: estimates."""

    file: str
    line: int
    process: Process
    own_ns: int  # in the line itself: its own bytecode, and C that it called
    calls_ns: int  # in Python functions that it called
    python_ns: int | None  # of both, while the interpreter ran; null: not known what the thread did
    native_ns: int | None  # of both, while C ran: in the thread, or in threads that it awaited
    waiting_ns: int | None  # of both, while nothing ran for it
    course: list[int]  # 0 to 15: how much of it was in each of equal parts of the process's time
