"""The files view: which files were opened, how often, by which line, and what that took."""

from rich.console import RenderableType
from rich.text import Text

from stepscope.model import FileRow, FilesAnswer
from stepscope.show.terminal.numbers import count, duration, size
from stepscope.show.terminal.page import (
    CODE,
    FAINT,
    columns,
    heading,
    indented,
    more,
    notes_block,
    page,
    place,
    process_name,
)

_LEGEND = "time: of the functions that opened it; ~ from the opening line's mean"


def files(answer: FilesAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.files[:top] if top else answer.files
    moved = f"read {size(answer.read_bytes)} · written {size(answer.written_bytes)}"
    parts: list[RenderableType] = [heading("Files", moved)]
    if not shown:
        parts.append(indented(Text("No file was opened by the user's own code.")))
        return page([*parts, *notes_block(answer.notes)])
    several = len({process_name(row.process) for row in answer.files}) > 1
    table = columns(
        ("time", "right"),
        ("opens", "right"),
        ("in steps", "right"),
        ("opened at", "left"),
        *((("process", "left"),) if several else ()),
        ("file", "fill"),
    )
    for row in shown:
        table.add_row(*_cells(row, with_process=several))
    parts += [indented(table), *more(len(answer.files), len(shown), "file")]
    parts.append(indented(Text(_LEGEND, style=FAINT)))
    return page([*parts, *notes_block(answer.notes)])


def _cells(row: FileRow, *, with_process: bool) -> list[RenderableType]:
    where = place(row.location)
    if row.location is not None and row.location.function:
        where += f" {row.location.function}"
    path = Text(row.path)
    if row.writing:
        path.append("  (written)", style=FAINT)
    process: list[RenderableType] = [process_name(row.process)] if with_process else []
    return [
        ("~" if row.estimated else "") + duration(row.total_ns),
        count(row.opens),
        count(row.steps),
        Text(where, style=CODE),
        *process,
        path,
    ]
