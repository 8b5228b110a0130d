"""The memory view: resident memory of each process over the run, and whether it grows."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model import LineMemory, MemoryAnswer, ProcessMemory
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.show.terminal.drawing.bars import Sparkline
from stepscope.show.terminal.drawing.cells import size_cell
from stepscope.show.terminal.drawing.numbers import duration, size
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    columns,
    heading,
    indented,
    name,
    notes_block,
    page,
    place,
    process_name,
)
from stepscope.show.terminal.drawing.paths import short_paths

_MOST_LINES: Final = 10


def memory(answer: MemoryAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.processes[:top] if top else answer.processes
    parts: list[RenderableType] = [heading("Resident memory", _machine(answer))]
    if not shown:
        parts.append(indented(Text(NOTHING_TO_SHOW["memory"])))
        return page([*parts, *notes_block(answer.notes)])
    table = columns(
        ("process", "left"),
        ("at start", "right"),
        ("peak", "right"),
        ("at end", "right"),
        ("growth per step", "right"),
    )
    names = _numbered([process_name(process.process) for process in shown])
    for words, process in zip(names, shown, strict=True):
        table.add_row(
            words,
            size_cell(process.first_bytes),
            size_cell(process.peak_bytes),
            size_cell(process.last_bytes),
            size_cell(process.growth_bytes_per_step),
        )
    parts.append(indented(table))
    # There are many similar workers: their rows are enough.
    own = [process for process in shown if process.process.role != "worker"] or shown
    parts += [block for process in own for block in _over_time(process)]
    parts += _lines(answer.lines or [])
    return page([*parts, *notes_block(answer.notes)])


def _numbered(names: list[str]) -> list[str]:
    """`workers 1`, `workers 2` if the same name comes twice."""
    total, seen = Counter(names), Counter[str]()
    numbered = []
    for each in names:
        seen[each] += 1
        numbered.append(f"{each} {seen[each]}" if total[each] > 1 else each)
    return numbered


def _machine(answer: MemoryAnswer) -> str:
    words = []
    if answer.machine_bytes is not None:
        words.append(f"machine {size(answer.machine_bytes)}")
    if answer.limit_bytes is not None:
        words.append(f"container limit {size(answer.limit_bytes)}")
    return " · ".join(words)


def _lines(lines: Sequence[LineMemory]) -> list[RenderableType]:
    """Lines that keep memory, largest first."""
    keeping = [line for line in lines if line.kept_bytes > 0][:_MOST_LINES]
    if not keeping:
        return []
    table = columns(("kept", "right"), ("allocated", "right"), ("where", "left"), ("line", "fill"))
    files = short_paths(line.location.file for line in keeping)
    for line in keeping:
        table.add_row(
            size_cell(line.kept_bytes),
            size_cell(line.alloc_bytes),
            place(line.location, files),
            name((line.source or "").strip(), CODE),
        )
    return [Text(""), heading("Lines whose memory stays", "in the operator windows"),
            indented(table)]  # fmt: skip


def _over_time(process: ProcessMemory) -> list[RenderableType]:
    """A sparkline from the first to the last point."""
    points = process.points
    if len(points) < 2:
        return []
    span = duration(points[-1].at_ns - points[0].at_ns)
    whose = process_name(process.process)
    title = Text(f"{whose}, over {span}, from 0 to {size(process.peak_bytes)}", style=FAINT)
    line = Sparkline([point.resident_bytes for point in points], "green")
    return [Text(""), indented(Group(title, line))]
