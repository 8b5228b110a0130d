"""What the operator windows tell of each line: time in operators, on the device, and memory.

A line's figures are those of the operators that it called itself, in all windows together.
"""

import collections
import dataclasses
import functools

import numpy as np

from stepscope.analyze.op_lines import memory_places
from stepscope.analyze.ops import Part, parts_of
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
    """By line; what no window of the process knows is left out."""

    by_line: dict[Place, Figures]
    has_device: bool
    has_memory: bool


@functools.lru_cache(maxsize=64)
def line_figures(process: ProcessData) -> LineFigures | None:
    """None: without windows."""
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
    columns = (places.code, places.line, tree.self_ns, tree.device_ns)
    for code, line, ops_ns, device_ns in zip(
        *(column[known].tolist() for column in columns), strict=True
    ):
        figures = found[code, line]
        figures.ops_ns += ops_ns
        figures.device_ns += device_ns


def _add_memory(found: dict[Place, Figures], process: ProcessData, part: Part) -> None:
    """Whoever allocated a block owns it until it is freed, wherever that happens."""
    memory = part.tree.trace.memory
    order = np.argsort(memory["at_ns"], kind="stable")
    memory = memory[order]
    places = memory_places(process, part.window, part.tree.trace)
    columns = places.code[order], places.line[order], memory["bytes"], memory["address"]
    owner: dict[int, Figures] = {}
    for code, line, size, address in zip(*(column.tolist() for column in columns), strict=True):
        if size > 0 and code:
            figures = owner[address] = found[code, line]
            figures.alloc_bytes += size
            figures.kept_bytes += size
        elif size < 0 and address in owner:
            owner.pop(address).kept_bytes += size
