"""The memory view: resident memory of each process over the run, and whether it grows."""

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model import MemoryAnswer, ProcessMemory
from stepscope.show.terminal.bars import Sparkline
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
    for process in shown:
        table.add_row(
            process_name(process.process),
            size(process.first_bytes),
            size(process.peak_bytes),
            size(process.last_bytes),
            size(process.growth_bytes_per_step),
        )
    parts.append(indented(table))
    parts += [block for process in shown for block in _over_time(process)]
    return page([*parts, *notes_block(answer.notes)])


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
