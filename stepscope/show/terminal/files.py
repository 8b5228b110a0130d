"""The files view: which files were opened, how often, by which line, and how long that took."""

from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.model import FileRow, FilesAnswer
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.numbers import count, size
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    columns,
    heading,
    indented,
    more,
    name,
    notes_block,
    of_several_processes,
    page,
    place,
    process_name,
)
from stepscope.show.terminal.drawing.paths import PathCell, short_function, short_paths

_FUNCTION_WIDTH: Final = 16  # leaves a third of 80 columns for the file's own name
_LEGEND: Final = "time: until the function returns or opens another file; ~ mean of the line"


def files(answer: FilesAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.files[:top] if top else answer.files
    moved = f"read {size(answer.read_bytes)} · written {size(answer.written_bytes)}"
    parts: list[RenderableType] = [heading("Files", moved)]
    if not shown:
        parts.append(indented(Text(NOTHING_TO_SHOW["files"])))
        return page([*parts, *notes_block(answer.notes)])
    several = of_several_processes(answer.files)
    table = columns(
        ("time", "right"),
        ("opens", "right"),
        ("in steps", "right"),
        ("opened at", "name"),
        *((("process", "left"),) if several else ()),
        ("file", "fill"),
    )
    names = short_paths(row.location.file for row in shown if row.location)
    for row in shown:
        table.add_row(*_cells(row, names, with_process=several))
    parts += [indented(table), *more(len(answer.files), len(shown), "file")]
    parts.append(indented(Text(_LEGEND, style=FAINT)))
    return page([*parts, *notes_block(answer.notes)])


def _cells(row: FileRow, names: dict[str, str], *, with_process: bool) -> list[RenderableType]:
    where = place(row.location, names)
    if row.location is not None and row.location.function and not with_process:
        where += " " + short_function(row.location.function, _FUNCTION_WIDTH)
    process: list[RenderableType] = [process_name(row.process)] if with_process else []
    return [
        duration_cell(None if row.importing else row.total_ns, mark="~" if row.estimated else ""),
        count(row.opens),
        count(row.steps),
        name(where, CODE),
        *process,
        PathCell(row.path, "  (written)" if row.writing else ""),
    ]
