"""The processes view: who took part, how long, how busy, and how it ended."""

import shlex

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model import ProcessesAnswer, ProcessRow
from stepscope.show.terminal.numbers import (
    NOTHING,
    counted,
    duration,
    percent,
    size,
)
from stepscope.show.terminal.page import (
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
            duration(row.wall_ns),
            duration(row.cpu_ns),
            percent(row.cpu_ns / row.wall_ns) if row.cpu_ns and row.wall_ns else NOTHING,
            size(row.peak_bytes),
            percent(row.overhead_share),
            row.status,
        )
    parts: list[RenderableType] = [
        heading("Processes", "busy is CPU time of all threads against wall time"),
        indented(table),
        Text(""),
        *(indented(_details(row)) for row in shown),
    ]
    parts += more(len(answer.processes), len(shown), "process", "processes")
    return page([*parts, *notes_block([*answer.notes, *_own_notes(shown)])])


def _details(row: ProcessRow) -> RenderableType:
    """What the process was, and what it moved and waited for."""
    title = Text(process_name(row.process), no_wrap=True, overflow="ellipsis")
    if row.parent_pid is not None:
        title.append(f" of {row.parent_pid}", style=FAINT)
    title.append(f" on {row.host}: {shlex.join(row.argv)}", style=FAINT)
    facts = [counted(row.threads, "thread")]
    if row.read_bytes is not None:
        facts.append(f"read {size(row.read_bytes)}")
    if row.written_bytes is not None:
        facts.append(f"written {size(row.written_bytes)}")
    if row.voluntary_switches is not None:
        facts.append(counted(row.voluntary_switches, "wait"))
    if row.involuntary_switches is not None:
        facts.append(counted(row.involuntary_switches, "preemption"))
    return Group(title, indented(Text(" · ".join(facts), style=FAINT)))


def _own_notes(rows: list[ProcessRow]) -> list[str]:
    return [f"{process_name(row.process)}: {note}" for row in rows for note in row.notes]
