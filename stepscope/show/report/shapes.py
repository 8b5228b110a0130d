"""What the page gets: the answers of the views, and columns where there are many rows."""

import functools
from typing import Final, cast

import msgspec

from stepscope.model import Process, Record, SummaryAnswer
from stepscope.model.comparison import ComparisonAnswer
from stepscope.model.findings import FindingsAnswer
from stepscope.model.next_questions import NextQuestion
from stepscope.model.ops import OpsAnswer
from stepscope.model.page import Called, Facts, LineSamples, Recorded, StepColumns, Tree
from stepscope.model.timeline import Timeline
from stepscope.model.trial import TrialAnswer
from stepscope.views import VIEWS

# Index in the content's `called`, ncalls, own time, time with callees.
Caller = tuple[int, int | None, int, int]


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

    Rows: line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated, likely_hits."""

    file: str
    function: str
    first_line: int
    process: Process
    total_ns: int
    calls: int | None
    rows: list[tuple[int, int, int, int | None, int | None, int | None, bool, int | None]]


class Content(Record, frozen=True):
    """Everything that the page shows about a run. What failed is null, and `trouble` says why."""

    facts: Facts
    verdict: str
    summary: SummaryAnswer
    words: dict[str, str]  # what a step does in each category
    least_share: float  # of a category that is shown
    least_line_share: float  # of the run, for a line among the hottest
    nothing: dict[str, str]  # by view: what it says if it has nothing to show
    straggler: str | None  # a sentence about the rank that the others wait for
    recorded: list[Recorded]
    steps: StepColumns | None
    findings: FindingsAnswer | None
    next: list[NextQuestion]
    lines: list[FileLines]
    sources: dict[str, list[str]] | None  # null: left out on purpose
    called: list[Called]
    trees: list[Tree]
    functions: FunctionTable | None
    ops_by_shape: OpsAnswer | None
    ops_by_module: OpsAnswer | None
    timeline: Timeline | None
    reduced: list[str]  # what was left out so that the file stays small
    trouble: list[str]
    made: str  # ISO 8601
    can_try: bool  # whether this stepscope can measure a fix itself
    compare: ComparisonAnswer | None = None  # with another run, if the report is about two
    trial: TrialAnswer | None = None  # of fixes, if the report is about one
    line_samples: list[LineSamples] = msgspec.field(default_factory=list)


# Views whose answers the page gets as they are: those that have no other form above.
WHOLE_ANSWERS: Final = [
    view for view in VIEWS.values() if view.name not in Content.__struct_fields__
]


@functools.cache
def content_type() -> type[Content]:
    """With a field for each of these; made when it is needed, because it loads all analyses."""
    made = msgspec.defstruct(
        "Content",
        [(view.name, view.answer_type | None) for view in WHOLE_ANSWERS],
        bases=(Content,),
        namespace={"__doc__": Content.__doc__},
        module=__name__,
        frozen=True,
        kw_only=True,
    )
    return cast("type[Content]", made)
