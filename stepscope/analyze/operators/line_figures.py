"""What the operator windows say about each line: time in operators, on the device, and memory.

A line's figures are those of the operators that it called itself, in all windows together.
"""

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.analyze.grouping import Indices, grouped, in_order, sums
from stepscope.analyze.operators.operators import Part, parts_of
from stepscope.analyze.traces.operator_lines import Places, memory_places
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData

Place = tuple[int, int]  # code id, line


@dataclasses.dataclass
class Figures:
    ops_ns: int = 0
    device_ns: int = 0
    alloc_bytes: int = 0
    kept_bytes: int = 0  # allocated, and not freed before the window ended

    def add(self, other: "Figures") -> None:
        self.ops_ns += other.ops_ns
        self.device_ns += other.device_ns
        self.alloc_bytes += other.alloc_bytes
        self.kept_bytes += other.kept_bytes


@dataclasses.dataclass(frozen=True, eq=False)
class LineFigures:
    """By line; lines that are in no window of the process are left out."""

    by_line: dict[Place, Figures]
    has_device: bool
    has_memory: bool


@functools.lru_cache(maxsize=64)
def line_figures(process: ProcessData) -> LineFigures | None:
    """None: there are no windows."""
    parts, _ = parts_of(process)
    if not parts:
        return None
    found: dict[Place, Figures] = collections.defaultdict(Figures)
    for part in parts:
        _add_time(found, part)
        _add_memory(found, process, part)
    return LineFigures(
        by_line=dict(found),
        has_device=any(part.tree.trace.has_device for part in parts),
        has_memory=any(part.tree.trace.has_memory for part in parts),
    )


def _add_time(found: dict[Place, Figures], part: Part) -> None:
    places, tree = part.places, part.tree
    known = np.flatnonzero(places.code > 0)
    group, first = grouped(places.code[known], places.line[known])
    ops_ns = sums(group, tree.self_ns[known], len(first)).tolist()
    device_ns = sums(group, tree.device_ns[known], len(first)).tolist()
    for number in in_order(first):
        figures = found[_place(places, known[first[number]])]
        figures.ops_ns += ops_ns[number]
        figures.device_ns += device_ns[number]


def _add_memory(found: dict[Place, Figures], process: ProcessData, part: Part) -> None:
    """The line that allocated a block owns it until it is freed, wherever that happens."""
    memory = part.tree.trace.memory
    places = memory_places(process, part.window, part.tree.trace)
    known = np.flatnonzero((memory["bytes"] > 0) & (places.code != 0))
    known = known[np.argsort(memory["at_ns"][known], kind="stable")]
    group, first = grouped(places.code[known], places.line[known])
    alloc_bytes = sums(group, memory["bytes"][known], len(first)).tolist()
    freed_bytes = sums(group, _freed(memory, known), len(first)).tolist()
    for number in in_order(first):
        figures = found[_place(places, known[first[number]])]
        figures.alloc_bytes += alloc_bytes[number]
        figures.kept_bytes += alloc_bytes[number] + freed_bytes[number]


def _place(places: Places, index: np.int64) -> Place:
    return int(places.code[index]), int(places.line[index])


def _freed(memory: npt.NDArray[Any], allocates: Indices) -> Ints:
    """How many bytes of each were freed again, as negative numbers: by the next event at its
    address, if that is not an allocation."""
    is_free = memory["bytes"] < 0
    seen = np.concatenate([allocates, np.flatnonzero(is_free)])
    order = seen[np.lexsort((seen, memory["at_ns"][seen], memory["address"][seen]))]
    following = np.append(order[1:], order[:1])
    ends = is_free[following] & (memory["address"][following] == memory["address"][order])
    ends[-1:] = False
    freed = np.zeros(len(memory), np.int64)
    freed[order] = np.where(ends, memory["bytes"][following], 0)
    return freed[allocates]
