"""The processes view: which ran, how long, how busy, and how they ended."""

import os
import shlex

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model.processes import ProcessesAnswer, ProcessRow
from stepscope.show.terminal.drawing.cells import duration_cell, size_cell
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    count,
    counted,
    percent,
    size,
)
from stepscope.show.terminal.drawing.page import (
    FAINT,
    columns,
    heading,
    indented,
    more,
    notes_block,
    page,
    process_name,
)


def processes(answer: ProcessesAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.processes[:top] if top else answer.processes
    table = columns(
        ("process", "left"),
        ("wall", "right"),
        ("CPU", "right"),
        ("busy", "right"),
        ("peak", "right"),
        ("our cost", "right"),
        ("status", "left"),
    )
    for row in shown:
        table.add_row(
            process_name(row.process),
            duration_cell(row.wall_ns),
            duration_cell(row.cpu_ns),
            percent(row.cpu_ns / row.wall_ns) if row.cpu_ns and row.wall_ns else NOTHING,
            size_cell(row.peak_bytes),
            percent(row.overhead_share),
            row.status,
        )
    parts: list[RenderableType] = [
        heading("Processes", "busy is CPU time of all threads relative to wall time"),
        indented(table),
        Text(""),
        *(indented(_details(row)) for row in shown),
    ]
    parts += more(len(answer.processes), len(shown), "process", "processes")
    return page([*parts, *notes_block([*answer.notes, *_own_notes(shown)])])


def _details(row: ProcessRow) -> RenderableType:
    """What the process was, what it read and wrote, and how often it waited."""
    title = Text(process_name(row.process), no_wrap=True, overflow="ellipsis")
    if row.parent_pid is not None:
        title.append(f" of {row.parent_pid}", style=FAINT)
    if row.host:  # a trace does not say
        title.append(f" on {row.host}: {_command(row.argv)}", style=FAINT)
    facts = [counted(row.threads, "thread")] if row.threads else []
    if row.read_bytes is not None:
        facts.append(f"read {size(row.read_bytes)}")
    if row.written_bytes is not None:
        facts.append(f"written {size(row.written_bytes)}")
    switches = []
    if row.voluntary_switches is not None:
        switches.append(f"waited {count(row.voluntary_switches)}×")
    if row.involuntary_switches is not None:
        switches.append(f"interrupted {count(row.involuntary_switches)}×")
    lines = [" · ".join(each) for each in (facts, switches) if each]
    return Group(title, *(indented(Text(each, style=FAINT)) for each in lines))


def _command(argv: list[str]) -> str:
    """The command line, without the interpreter's folder."""
    return shlex.join([os.path.basename(argv[0]), *argv[1:]]) if argv else ""


def _own_notes(rows: list[ProcessRow]) -> list[str]:
    """Each note once, with all processes that have it."""
    whose: dict[str, list[str]] = {}
    for row in rows:
        for note in row.notes:
            whose.setdefault(note, []).append(process_name(row.process))
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in whose.items()]
