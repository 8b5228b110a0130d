"""What the page gets besides the answers of `model`: columns, because there are many rows."""

from stepscope.model import (
    ActionsAnswer,
    FilesAnswer,
    InputAnswer,
    MemoryAnswer,
    Process,
    ProcessesAnswer,
    Record,
    RegionsAnswer,
    SummaryAnswer,
)
from stepscope.model.findings import FindingsAnswer
from stepscope.model.ops import DeviceAnswer, KernelsAnswer, OpsAnswer
from stepscope.model.page import Called, Facts, Recorded, StepColumns, Tree
from stepscope.model.ranks import RanksAnswer
from stepscope.model.timeline import Timeline

Caller = tuple[int, int, int, int]  # index in the content's `called`, ncalls, own, with callees


class ShownFunction(Record, frozen=True):
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
    functions: list[ShownFunction]
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


class Content(Record, frozen=True):
    """Everything that the page shows about a run. What failed is null, and `trouble` says why."""

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
    can_try: bool  # whether this stepscope can measure a fix itself
