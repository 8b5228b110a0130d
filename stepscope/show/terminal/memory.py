"""The memory view: resident memory of each process over the run, and whether it grows."""

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model import MemoryAnswer, ProcessMemory
from stepscope.show.terminal.bars import Sparkline
from stepscope.show.terminal.cells import size_cell
from stepscope.show.terminal.numbers import duration, size
from stepscope.show.terminal.page import (
    FAINT,
    columns,
    heading,
    indented,
    notes_block,
    page,
    process_name,
)


def memory(answer: MemoryAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.processes[:top] if top else answer.processes
    parts: list[RenderableType] = [heading("Resident memory", _machine(answer))]
    if not shown:
        parts.append(indented(Text("Not recorded in this run.")))
        return page([*parts, *notes_block(answer.notes)])
    table = columns(
        ("process", "left"),
        ("at start", "right"),
        ("peak", "right"),
        ("at end", "right"),
        ("growth a step", "right"),
    )
    names = _numbered([process_name(process.process) for process in shown])
    for name, process in zip(names, shown, strict=True):
        table.add_row(
            name,
            size_cell(process.first_bytes),
            size_cell(process.peak_bytes),
            size_cell(process.last_bytes),
            size_cell(process.growth_bytes_per_step),
        )
    parts.append(indented(table))
    # Workers are many and alike: their rows tell enough.
    own = [process for process in shown if process.process.role != "worker"] or shown
    parts += [block for process in own for block in _over_time(process)]
    return page([*parts, *notes_block(answer.notes)])


def _numbered(names: list[str]) -> list[str]:
    """`workers 1`, `workers 2` where the same name comes twice."""
    total, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} {seen[name]}" if total[name] > 1 else name)
    return numbered


def _machine(answer: MemoryAnswer) -> str:
    words = []
    if answer.machine_bytes is not None:
        words.append(f"machine {size(answer.machine_bytes)}")
    if answer.limit_bytes is not None:
        words.append(f"container limit {size(answer.limit_bytes)}")
    return " · ".join(words)


def _over_time(process: ProcessMemory) -> list[RenderableType]:
    """A sparkline from the first to the last point."""
    points = process.points
    if len(points) < 2:
        return []
    span = duration(points[-1].at_ns - points[0].at_ns)
    name = process_name(process.process)
    title = Text(f"{name}, over {span}, from 0 to {size(process.peak_bytes)}", style=FAINT)
    line = Sparkline([point.resident_bytes for point in points], "green")
    return [Text(""), indented(Group(title, line))]
