"""The common form of all operator traces: events and their names, in columns."""

import dataclasses
import enum
import functools
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.columns import Columns

_Key = TypeVar("_Key", bound=Hashable)


class Category(enum.IntEnum):
    """What an event is, whatever its framework and version called it."""

    OTHER = 0
    OP = 1
    ANNOTATION = 2  # record_function, TraceAnnotation
    RUNTIME = 3  # a call into the device's library
    KERNEL = 4
    MEMCPY = 5
    MEMSET = 6
    PYTHON = 7
    DEVICE_ANNOTATION = 8
    MEMORY = 9  # an allocation or a free


ON_DEVICE: Final = (Category.KERNEL, Category.MEMCPY, Category.MEMSET)

# The widest columns come first: this aligns them without padding, and aligned ones are read in half
# the time.
EVENT_DTYPE: Final = np.dtype(
    [
        ("start_ns", np.int64),  # Unix time where the trace says when it began
        ("duration_ns", np.int64),
        ("external", np.int64),  # joins kernels to the operator that launched them
        ("correlation", np.int64),  # joins kernels to the call that launched them
        ("sequence", np.int64),  # joins backward operators to their forward twin
        ("stream", np.int64),
        ("bytes", np.int64),  # of a copy
        ("name", np.int32),  # index in `names`
        ("thread", np.int32),  # index in `threads`
        ("shapes", np.int32),  # index in `shapes`
        ("device", np.int32),
        ("framework_op", np.int32),  # on a device: index in `names` of the operator; -1: unknown
        ("source", np.int32),  # index in `sources`: the lines that made it; -1: unknown
        ("category", np.int8),
        ("is_input", np.bool_),  # part of an input pipeline that runs beside the steps
    ],
    align=True,
)
MEMORY_DTYPE: Final = np.dtype(
    [
        ("at_ns", np.int64),
        ("bytes", np.int64),  # negative: freed
        ("address", np.uint64),
        ("thread", np.int32),
        ("is_device", np.bool_),
    ],
    align=True,
)
FLOW_DTYPE: Final = np.dtype(
    [("id", np.int64), ("at_ns", np.int64), ("thread", np.int32), ("is_end", np.bool_)],
    align=True,
)


class Thread(msgspec.Struct, frozen=True):
    process: str
    thread: str  # the kernel's number where it is one
    name: str | None = None
    process_name: str | None = None


class Shapes(msgspec.Struct, frozen=True):
    """An operator's inputs, as JSON."""

    dims: str = ""  # [[32, 64], []]
    types: str = ""
    concrete: str = ""  # strides and paddings of convolutions


class NamedShapes(msgspec.Struct, frozen=True):
    name: str  # of the operator
    shapes: Shapes


class LentShapes(msgspec.Struct, frozen=True):
    """What a file without times knows about the operators of a trace."""

    pid: int | None
    by_call: dict[int, NamedShapes]  # by the number of the operator's call


class Source(msgspec.Struct, frozen=True):
    """The line of Python that made an operation, according to the trace."""

    file: str
    line: int


Stack = tuple[Source, ...]  # innermost first


class Frame(msgspec.Struct, frozen=True):
    """A function of Python, as tools name it."""

    file: str
    line: int  # its first
    function: str


class Counts(msgspec.Struct, frozen=True):
    calls: int
    primitive_calls: int
    own_ns: int
    total_ns: int


class FunctionCalls(msgspec.Struct, frozen=True):
    """A function that a profiler counted instead of writing down each call."""

    frame: Frame
    counts: Counts
    callers: list[tuple[Frame, Counts]]


class FunctionLines(msgspec.Struct, frozen=True):
    """A function whose lines a profiler counted."""

    frame: Frame
    lines: list[tuple[int, int, int]]  # line, hits, ns


class KeptMemory(msgspec.Struct, frozen=True):
    """Memory of a device by the line that asked for it."""

    frame: Frame
    allocated_bytes: int
    kept_bytes: int


class Numbers(dict[_Key, int]):
    """Gives each new key the next number."""

    def __missing__(self, key: _Key) -> int:
        number = self[key] = len(self)
        return number


@dataclasses.dataclass(eq=False)
class Trace:
    """Events in the order of the file."""

    path: Path
    names: list[str]
    threads: list[Thread]
    shapes: list[Shapes]
    events: npt.NDArray[Any]
    memory: npt.NDArray[Any]
    flows: npt.NDArray[Any]  # from forward operators to backward ones
    head: dict[str, Any]
    notes: list[str]
    sources: list[Stack] = dataclasses.field(default_factory=list)
    framework: str | None = None  # whose operators these are; None: unknown
    functions: list[FunctionCalls] = dataclasses.field(default_factory=list)
    line_times: list[FunctionLines] = dataclasses.field(default_factory=list)
    kept: list[KeptMemory] = dataclasses.field(default_factory=list)

    def is_of(self, *categories: Category) -> npt.NDArray[np.bool_]:
        """By a lookup table: comparing millions takes ten times as long."""
        wanted = np.zeros(256, np.bool_)
        wanted[list(categories)] = True
        found: npt.NDArray[np.bool_] = wanted[self.events["category"]]
        return found

    def of(self, *categories: Category) -> npt.NDArray[Any]:
        kept: npt.NDArray[Any] = self.events[self.is_of(*categories)]
        return kept

    def __post_init__(self) -> None:
        if isinstance(self.events, np.ndarray):
            self.events = Columns.of(self.events).as_table()

    @property
    def columns(self) -> Columns:
        """Of its events, to change them."""
        return cast(Columns, self.events)

    def with_columns(self, **columns: Ints) -> "Trace":
        """With these columns of its events in place of its own."""
        changed = self.columns
        for name, values in columns.items():
            changed = changed.having(name, values)
        return dataclasses.replace(self, events=changed.as_table())

    def shifted(self, by_ns: int) -> "Trace":
        """The same on another clock."""
        if not by_ns:
            return self
        moved = self.with_columns(start_ns=self.events["start_ns"] + by_ns)
        moved.memory, moved.flows = self.memory.copy(), self.flows.copy()
        for table in (moved.memory, moved.flows):
            table["at_ns"] += by_ns
        return moved

    @property
    def nbytes(self) -> int:
        return self.columns.nbytes + self.memory.nbytes + self.flows.nbytes

    @property
    def has_other_tables(self) -> bool:
        """What has no time of its own: counted functions and lines, memory."""
        return bool(self.functions or self.line_times or self.kept or self.has_memory)

    @property
    def has_memory(self) -> bool:
        return len(self.memory) > 0

    @functools.cached_property
    def has_device(self) -> bool:
        return bool(self.is_of(*ON_DEVICE).any())


def no_events(count: int) -> npt.NDArray[Any]:
    """A table of this many events, all fields unknown."""
    table = np.zeros(count, EVENT_DTYPE)
    for column in ("external", "correlation", "sequence", "stream", "device", "framework_op",
                   "source"):  # fmt: skip
        table[column] = -1
    return table


def no_trace(path: Path, **found: Any) -> Trace:
    """A file that has no events, but something else."""
    nothing: dict[str, Any] = {
        "names": [], "threads": [], "shapes": [], "head": {}, "notes": [],
        "events": np.zeros(0, EVENT_DTYPE),
        "memory": np.zeros(0, MEMORY_DTYPE),
        "flows": np.zeros(0, FLOW_DTYPE),
    }  # fmt: skip
    return Trace(path, **(nothing | found))
