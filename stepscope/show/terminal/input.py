"""The input view: whether steps wait for their batches, where loading spends its time, and why."""

from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model import InputAnswer, InputLine, LoaderRow, StageRow
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import milliseconds_cell
from stepscope.show.terminal.drawing.numbers import count, counted, digits, milliseconds, percent
from stepscope.show.terminal.drawing.page import (
    CODE,
    columns,
    figures,
    heading,
    indented,
    more,
    name,
    notes_block,
    page,
    process_name,
)
from stepscope.show.terminal.drawing.paths import short_function, short_paths

_FUNCTION_WIDTH: Final = 20
_MOST_OPERATIONS: Final = 10
_IN_TRAINING: Final = "loading happens in the training process"


def input(answer: InputAnswer, *, top: int | None = None) -> RenderableType:
    if answer.loader is None:
        nothing = indented(Text(answer.reason or NOTHING_TO_SHOW["input"]))
        return page([heading("Input"), nothing, *notes_block(answer.notes)])
    parts: list[RenderableType] = [
        heading("Input", _about(answer)),
        indented(_waits(answer.loader, answer.start_up_ms)),
        indented(_verdict(answer)),
    ]
    if answer.stages:
        parts += [Text(""), heading("Where a batch spends its time")]
        parts.append(indented(_stages(answer)))
    if answer.operations:
        most = answer.operations[: top or _MOST_OPERATIONS]
        parts += [Text(""), heading("Operations in the pipeline", "own time")]
        parts += [indented(_operations(most))]
        parts += more(len(answer.operations), len(most), "operation")
    if answer.lines:
        shown = answer.lines[:top] if top else answer.lines
        parts += [Text(""), heading("Lines that load", "including what they call")]
        parts.append(indented(_lines(shown)))
    if answer.library:
        parts += [Text(""), heading("In libraries", "share of the time to fetch and collate")]
        parts.append(indented(_library(answer, top)))
    return page([*parts, *notes_block(answer.notes)])


def _about(answer: InputAnswer) -> str:
    assert answer.loader is not None  # the caller checks
    words = []
    if answer.loader.workers is not None:
        has_some = answer.loader.workers > 0
        words.append(counted(answer.loader.workers, "worker") if has_some else _IN_TRAINING)
    if answer.loader.batch_size is not None:
        words.append(f"{counted(answer.loader.batch_size, 'sample')} per batch")
    if answer.cores is not None:
        words.append(f"{answer.cores:g} cores" if answer.cores != 1 else "1 core")
    return " · ".join(words)


def _waits(loader: LoaderRow, start_up_ms: float | None) -> Table:
    cells = [
        ("wait per step", milliseconds(loader.wait_ms)),
        ("of the step", percent(loader.share)),
        ("longest", milliseconds(loader.longest_ms)),
        ("steps that waited", f"{count(loader.steps_that_waited)} of {count(loader.steps)}"),
    ]
    if start_up_ms is not None:
        cells.append(("start-up", milliseconds(start_up_ms)))
    return figures(cells)


def _verdict(answer: InputAnswer) -> Text:
    is_fast = answer.limit == "nothing"
    text = Text("Fast enough" if is_fast else f"Limited by {answer.limited_by}", style="bold")
    return text.append(f": {answer.why}" if answer.why else "", style="not bold")


def _stages(answer: InputAnswer) -> Table:
    if any(row.parallelism is not None for row in answer.stages):
        return _pipeline(answer.stages)
    table = columns(
        ("stage", "label"), ("in", "left"), ("per batch", "right"), ("share", "right"), ("", "fill")
    )
    for row in answer.stages:
        table.add_row(
            row.stage,
            _where(row),
            milliseconds_cell(row.ms_per_batch),
            percent(row.share),
            Bar(row.share, "dim" if row.stage == "wait for work" else "magenta"),
        )
    return table


def _pipeline(rows: list[StageRow]) -> Table:
    """Of tf.data: the stages' own time."""
    table = columns(
        ("stage", "label"), ("own time per batch", "right"), ("share", "right"), ("calls", "right"),
        ("at once", "right"), ("", "fill"),
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row.stage,
            milliseconds_cell(row.ms_per_batch),
            percent(row.share),
            count(row.calls or 0),
            digits(row.parallelism or 0.0),
            Bar(row.share, "magenta"),
        )
    return table


def _operations(rows: list[StageRow]) -> Table:
    table = columns(
        ("operation", "label"), ("per batch", "right"), ("share", "right"), ("calls", "right"),
        ("", "fill"),
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row.stage,
            milliseconds_cell(row.ms_per_batch),
            percent(row.share),
            count(row.calls or 0),
            Bar(row.share, "magenta"),
        )
    return table


def _where(row: StageRow) -> str:
    return process_name(row.process)


def _lines(lines: list[InputLine]) -> Table:
    files = short_paths(line.file for line in lines)
    table = columns(
        ("per batch", "right"),
        ("share", "right"),
        ("where", "name"),
        ("in", "name"),
        ("line", "fill"),
    )
    for line in lines:
        table.add_row(
            milliseconds_cell(line.ms_per_batch),
            percent(line.share),
            name(f"{files.get(line.file, line.file)}:{line.line}", CODE),
            name(short_function(line.function or "", _FUNCTION_WIDTH)),
            (line.source or "").strip(),
        )
    return table


def _library(answer: InputAnswer, top: int | None) -> Table:
    shown = answer.library[:top] if top else answer.library
    files = short_paths(each.file for each in shown)
    table = columns(("share", "right"), ("function", "name"), ("file", "name"))
    for each in shown:
        table.add_row(
            percent(each.share), name(each.function, CODE), name(files.get(each.file, each.file))
        )
    return table
