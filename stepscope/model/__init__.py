"""What a run consists of and what can be asked of it: typed, frozen records.

The answers' fields are the JSON of `show --json`. Times are ns unless the name says otherwise.
"""

from typing import Literal

import msgspec

Role = Literal["main", "worker", "rank"]
Bound = Literal["host", "device", "input", "communication"]
How = Literal["exited", "killed", "running", "stopped", "unknown"]  # stopped: only recording
Limit = Literal["work", "number", "transfer", "nothing", "start-up"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all records: immutable, built with keywords."""


class Process(Record, frozen=True):
    """A process, as answers name it. Workers of one parent are reported together: pid null."""

    role: Role
    rank: int | None
    pid: int | None


class Location(Record, frozen=True):
    file: str
    line: int
    function: str | None


# --- steps -------------------------------------------------------------------------------------


class Spread(Record, frozen=True):
    mean: float
    median: float
    p10: float
    p90: float


class Rate(Record, frozen=True):
    per_s: float
    samples_per_s: float | None
    samples_are: str | None = None  # what is counted, where that is not plain


class Share(Record, frozen=True):
    """One exclusive category of the mean step."""

    category: str
    share: float
    ms: float
    device_ms: float | None
    steps: int | None = None  # of the measured ones: how many have any of it


class Overhead(Record, frozen=True):
    """What recording cost, as a share of the time in measured steps (of the run without steps)."""

    share: float
    budget: float
    thinned: list[str]  # "file:function" of code whose lines were thinned out
    windows: int = 0  # operator windows
    windows_ns: int = 0  # what opening and closing them took, in steps that are not measured


class Step(Record, frozen=True):
    start_ns: int  # since the process began to record
    duration_ns: int
    phases: dict[str, int]
    measured: bool
    estimated: bool = False  # the input inside a compiled function is an estimate
    number: int = 0  # as in every view: from 1, warm-up included; a trace's own, where it has some


class StepsAnswer(Record, frozen=True):
    steps: int
    warmup: int | None
    measured: int | None
    step_ms: Spread | None
    rate: Rate | None
    breakdown: list[Share] | None
    bound: Bound | None
    overhead: Overhead | None
    reason: str | None
    anchor: str | None = None  # what a step is here: "the loop at train.py:31", "stepscope.step()"
    each: list[Step] | msgspec.UnsetType = msgspec.UNSET
    notes: list[str] = []
    without_core: float | None = None  # of the measured time; null: under 5 %, or not known


# --- lines -------------------------------------------------------------------------------------


class LineRow(Record, frozen=True):
    line: int
    hits: int
    ns: int
    ops_ns: int | None
    device_ns: int | None
    alloc_bytes: int | None
    estimated: bool
    source: str | None
    # Of a thinned line: the hits that were counted, and those that fit into the time after.
    likely_hits: int | None = None


class FunctionLines(Record, frozen=True):
    file: str
    function: str
    first_line: int
    process: Process
    total_ns: int
    lines: list[LineRow]  # the lines that were hit
    calls: int | None = None
    source: list[str] | None = None  # the whole text, one entry per line from first_line on


class LinesAnswer(Record, frozen=True):
    functions: list[FunctionLines]
    notes: list[str] = []


class CallRow(Record, frozen=True):
    """A function's calls by one caller, or to one callee."""

    file: str
    line: int
    function: str
    ncalls: int | None  # null: from samples, which do not count
    primitive_calls: int | None
    tottime_ns: int
    cumtime_ns: int


class FunctionRow(Record, frozen=True):
    file: str  # "~" for functions written in C, as in pstats
    line: int
    function: str
    process: Process
    ncalls: int | None
    primitive_calls: int | None  # without those inside a call of the same function
    tottime_ns: int | None  # without callees
    cumtime_ns: int | None
    estimated: bool = False  # from samples, or of code that was thinned out
    callers: list[CallRow] = []
    callees: list[CallRow] = []


class FunctionsAnswer(Record, frozen=True):
    functions: list[FunctionRow]
    exact: bool
    notes: list[str] = []


# --- sampled stacks ------------------------------------------------------------------------------


class StackRow(Record, frozen=True):
    """A function in the tree of stacks; direct recursion is merged."""

    depth: int  # 0: outermost; a row is called by the last row before it that is less deep
    file: str
    line: int  # the function's first
    function: str
    library: str | None  # the package it belongs to; null: the user's own code
    total_ns: int
    self_ns: int
    share: float  # of the thread's time, callees included


class ThreadStacks(Record, frozen=True):
    process: Process
    thread: str
    threads: int  # how many were merged under this name
    main: bool
    total_ns: int
    samples: int
    rows: list[StackRow]


class StacksAnswer(Record, frozen=True):
    threads: list[ThreadStacks]
    notes: list[str] = []


# --- the whole run ------------------------------------------------------------------------------


class Part(Record, frozen=True):
    """One part of the whole run; the parts sum to the process's wall time."""

    category: str  # imports | set-up | steps | evaluation | saving | teardown
    ns: int
    share: float


class Ending(Record, frozen=True):
    """How the script ended."""

    how: How
    exit_status: int | None
    signal: str | None
    words: str


class SummaryAnswer(Record, frozen=True):
    run: str
    command: list[str]
    started: str  # ISO 8601, local time with offset
    ending: Ending
    wall_ns: int
    parts: list[Part]
    steps: StepsAnswer
    hottest: list[Location]
    hottest_ns: list[int]
    processes: int
    notes: list[str]
    hottest_source: list[str | None] = []  # the text of each of the hottest lines
    has: list[str] = []  # views for which something was recorded
    can_repeat: bool = False  # its command starts it again: `stepscope try` can
    is_trace: bool = False  # another tool recorded it: its parts are not known
    contents: list[str] = []  # of a trace: what is in it, a sentence each
    trace_ns: int = 0  # of a trace: from its first event to its last
    rank: int | None = None  # of several: the one that the parts and the steps are about


# --- the other questions --------------------------------------------------------------------------


class RegionRow(Record, frozen=True):
    name: str
    depth: int
    parent: str | None
    process: Process
    calls: int
    total_ns: int
    self_ns: int
    mean_ns: int
    per_step_ns: int | None
    share: float | None  # of the measured steps; of the run without steps


class RegionsAnswer(Record, frozen=True):
    regions: list[RegionRow]
    notes: list[str] = []


class ActionRow(Record, frozen=True):
    """An action of a framework's own profiler, by the path of the actions around it."""

    name: str
    depth: int  # a row lies inside the last row before it that is less deep
    calls: int
    total_ns: int  # its own time and that of the actions inside it
    self_ns: int
    mean_ns: int
    share: float  # of the answer's total


class ActionsAnswer(Record, frozen=True):
    actions: list[ActionRow]
    total_ns: int  # how long the process was recorded
    notes: list[str] = []


class FileRow(Record, frozen=True):
    path: str
    opens: int
    writing: bool
    steps: int | None  # in how many steps it was opened
    total_ns: int  # from its opening to the end of what opened it, without other files and imports
    estimated: bool  # true if that is the line's mean time and not an activation's own
    location: Location | None
    process: Process
    share: float = 0.0  # of the time of its process, or processes; of all threads that open files
    importing: bool = False  # all files that imports opened: their time is that of the imports


class FilesAnswer(Record, frozen=True):
    files: list[FileRow]
    read_bytes: int | None
    written_bytes: int | None
    notes: list[str] = []


class MemoryPoint(Record, frozen=True):
    at_ns: int  # since the start of the run, on the timeline's clock
    resident_bytes: int  # the most since the point before


class ProcessMemory(Record, frozen=True):
    process: Process
    first_bytes: int
    peak_bytes: int
    last_bytes: int
    growth_bytes_per_step: float | None
    points: list[MemoryPoint]


class LineMemory(Record, frozen=True):
    """In the operator windows: what a line's operators allocated, and how much of it was kept."""

    location: Location
    process: Process
    alloc_bytes: int
    kept_bytes: int  # not freed before the window ended
    source: str | None


class MemoryAnswer(Record, frozen=True):
    processes: list[ProcessMemory]
    machine_bytes: int | None
    limit_bytes: int | None
    notes: list[str] = []
    lines: list[LineMemory] | None = None  # those that keep the most first; null: no such windows


# --- input ---------------------------------------------------------------------------------------


class LoaderRow(Record, frozen=True):
    """The loader that the steps' batches come from. Times are for the measured steps."""

    workers: int | None  # null: the loader does not say
    batch_size: int | None
    wait_ms: float  # mean by step
    share: float  # of the step
    steps_that_waited: int
    steps: int
    longest_ms: float


class StageRow(Record, frozen=True):
    """A stage of the input pipeline; all workers together."""

    process: Process
    stage: str
    ms_per_batch: float
    share: float  # of the workers' time, or of the steps'
    calls: int | None = None  # of tf.data stages
    parallelism: float | None = None  # how many run at once, while any does


class InputLine(Record, frozen=True):
    """A line of the user's own code that loads, callees included."""

    file: str
    line: int
    function: str | None
    ms_per_batch: float
    share: float  # of the time in fetch and collate
    source: str | None = None


class InputFunction(Record, frozen=True):
    """What the user's code (or the loader itself) calls in a library while it loads."""

    function: str
    file: str
    share: float


class InputAnswer(Record, frozen=True):
    loader: LoaderRow | None
    limit: Limit | None
    why: str | None
    stages: list[StageRow]
    lines: list[InputLine]
    library: list[InputFunction]
    start_up_ms: float | None  # from asking for an iterator with workers to its first batch, mean
    busy: float | None = None  # share of their time in which the workers load
    cores: float | None = None
    idle_cores: float | None = None  # mean in the measured steps
    reason: str | None = None
    notes: list[str] = []
    limited_by: str | None = None  # `limit` in words
    operations: list[StageRow] = []  # inside the stages of tf.data, by name
