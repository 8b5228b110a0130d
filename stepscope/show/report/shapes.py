"""What the page is given, beside the answers of `model`: columns, because there are many rows."""

from typing import Any, Literal

from stepscope.model import (
    ActionsAnswer,
    FilesAnswer,
    InputAnswer,
    Location,
    MemoryAnswer,
    Process,
    ProcessesAnswer,
    Record,
    RegionsAnswer,
    SummaryAnswer,
)
from stepscope.model.findings import FindingsAnswer
from stepscope.model.ops import DeviceAnswer, KernelsAnswer, OpsAnswer
from stepscope.model.ranks import RanksAnswer

Kind = Literal[
    "step", "phase", "region", "action", "stage", "import", "file", "line", "stack", "operator",
    "device", "window",
]  # fmt: skip


class Facts(Record, frozen=True):
    """Who made the run, and where."""

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
    stepscope: str
    is_trace: bool  # of another tool: operators, and nothing else


class Recorded(Record, frozen=True):
    """Something that can be recorded: whether it was, how much, and how to get it."""

    what: str
    is_there: bool
    told: str


class StepColumns(Record, frozen=True):
    """One entry a step; `number` counts from 1. Very many steps come in groups, as means."""

    number: list[int]
    start_ns: list[int]
    duration_ns: list[int]
    measured: list[bool]
    estimated: list[bool]  # how the step divides up is partly a guess
    phases: dict[str, list[int]]
    group: int  # how many steps an entry stands for
    outliers: list[int]  # indices of entries that took far longer than the usual step
    slow_phase: list[str]  # of each outlier: what grew most


Called = tuple[str, str, int, str | None]  # function, file, line, library
Caller = tuple[int, int, int, int]  # index in the content's `called`, ncalls, own, with callees


class FunctionTold(Record, frozen=True):
    """A row of the functions' table."""

    file: str
    line: int
    function: str
    process: Process
    ncalls: int | None
    primitive_calls: int | None
    tottime_ns: int | None
    cumtime_ns: int | None
    estimated: bool
    callers: list[Caller]
    callees: list[Caller]


class FunctionTable(Record, frozen=True):
    functions: list[FunctionTold]
    exact: bool
    notes: list[str]


class FileLines(Record, frozen=True):
    """The lines of one function that were hit.

    Rows: line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated."""

    file: str
    function: str
    first_line: int
    process: Process
    total_ns: int
    calls: int | None
    rows: list[tuple[int, int, int, int | None, int | None, int | None, bool]]


class Tree(Record, frozen=True):
    """Who called whom in threads of one kind: rows in order, the callers before the called."""

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


class Lane(Record, frozen=True):
    """A row of the timeline. `start` holds the distance to the start before, `lasted` ns."""

    process: int  # index in the timeline's processes
    thread: str
    title: str
    kind: Kind
    depth: int  # how many lines it needs
    spans: int  # how many there are in the run; less is shown where some were put together
    start: list[int]
    lasted: list[int]
    name: list[int]  # index in the timeline's names
    level: list[int]
    count: list[int] | None  # how many spans each stands for
    place: list[int] | None  # index in the timeline's places, -1: none


class Timeline(Record, frozen=True):
    processes: list[str]
    names: list[str]
    places: list[Location]
    lanes: list[Lane]
    flows: list[tuple[int, int, int, int]]  # lane, start ns, lane, start ns
    from_ns: int
    to_ns: int
    whole_ns: int  # of the whole run
    main_ns: int  # where the recording of the main process begins, from which steps count


class Content(Record, frozen=True):
    """All that the page shows of a run. What could not be told is null, and `trouble` says why."""

    facts: Facts
    verdict: str
    summary: SummaryAnswer
    words: dict[str, str]  # what a step does in each category
    recorded: list[Recorded]
    steps: StepColumns | None
    findings: FindingsAnswer | None
    lines: list[FileLines]
    sources: dict[str, list[str]] | None  # null: left out on purpose
    called: list[Called]
    trees: list[Tree]
    functions: FunctionTable | None
    ops: OpsAnswer | None
    ops_by_shape: OpsAnswer | None
    kernels: KernelsAnswer | None
    device: DeviceAnswer | None
    input: InputAnswer | None
    files: FilesAnswer | None
    memory: MemoryAnswer | None
    ranks: RanksAnswer | None
    processes: ProcessesAnswer | None
    regions: RegionsAnswer | None
    actions: ActionsAnswer | None
    timeline: Timeline | None
    reduced: list[str]  # what was left out so that the file stays small
    trouble: list[str]
    made: str  # ISO 8601
    can_try: bool  # whether this stepscope can measure a fix by itself
