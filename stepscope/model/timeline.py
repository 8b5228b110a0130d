"""The timeline as the page gets it: rows of spans in columns, because there are many."""

from typing import Literal

import msgspec

from stepscope.model import Location, Record

Kind = Literal[
    "step", "phase", "region", "action", "stage", "import", "file", "line", "stack", "operator",
    "device", "window",
]  # fmt: skip


class Lane(Record, frozen=True):
    """A row of the timeline. `start` holds the distance to the start before, `lasted` ns."""

    process: int  # index in the timeline's processes
    thread: str
    title: str
    kind: Kind
    depth: int  # how many lines it needs
    spans: int  # how many there are in the run; fewer are shown if some were merged
    start: list[int]
    lasted: list[int]
    name: list[int]  # index in the timeline's names
    level: list[int]
    count: list[int] | None  # how many spans each stands for
    place: list[int] | None  # index in the timeline's places, -1: none


class Counter(Record, frozen=True):
    """A number over time; each value holds until the next moment."""

    process: int
    title: str
    unit: str  # cores, bytes, batches, share
    at_ns: list[int]
    values: list[float]


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
    counters: list[Counter] = msgspec.field(default_factory=list)  # not in tiles
