"""The ranks view: which rank waits for which, what their steps consist of, and how they ended."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.model.ranks import RankRow, RanksAnswer, Straggler
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import milliseconds_cell
from stepscope.show.terminal.drawing.numbers import count, counted, digits, milliseconds
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    WARNING,
    columns,
    heading,
    indented,
    more,
    notes_block,
    page,
)
from stepscope.show.terminal.traced_ranks import traced


def ranks(answer: RanksAnswer, *, top: int | None = None) -> RenderableType:
    if not answer.ranks:
        nothing = indented(Text(answer.reason or NOTHING_TO_SHOW["ranks"]))
        return page([heading("Ranks"), nothing, *notes_block(answer.notes)])
    shown = answer.ranks[:top] if top else answer.ranks
    parts: list[RenderableType] = [
        heading("Ranks", _about(answer)),
        indented(_table(shown)),
        *more(len(answer.ranks), len(shown), "rank"),
        *_verdict(answer),
        *(traced(answer.traced, top=top) if answer.traced is not None else []),
    ]
    return page([*parts, *notes_block(answer.notes)])


def _about(answer: RanksAnswer) -> str:
    words = [counted(len(answer.ranks), "rank")]
    hosts = len({row.host for row in answer.ranks})
    if hosts > 1:
        words.append(counted(hosts, "host"))
    if answer.samples_per_s is not None:
        words.append(f"{digits(answer.samples_per_s)} samples/s together")
    if answer.skew_ms is not None:
        per_step = " per step" if any(row.steps for row in answer.ranks) else ""
        words.append(f"{milliseconds(answer.skew_ms)}{per_step} waiting for the last rank")
    return " · ".join(words)


def _table(rows: list[RankRow]) -> Table:
    several_hosts = len({row.host for row in rows}) > 1
    table = columns(
        ("rank", "right"),
        *((("host", "name"),) if several_hosts else ()),
        ("steps", "right"),
        ("per step" if any(row.steps for row in rows) else "in all", "right"),
        ("own", "right"),
        ("input", "right"),
        ("waits", "right"),
        ("transfers", "right"),
        ("own time", "fill"),
        ("status", "left"),
    )
    longest = max((row.step_ms or 0.0 for row in rows), default=0.0) or 1.0
    for row in rows:
        table.add_row(
            str(row.rank),
            *((row.host,) if several_hosts else ()),
            count(row.steps),
            milliseconds_cell(row.step_ms),
            milliseconds_cell(row.own_ms),
            milliseconds_cell(row.input_ms),
            milliseconds_cell(row.waiting_ms),
            milliseconds_cell(row.transfer_ms),
            Bar((row.own_ms or 0.0) / longest, "green"),
            Text(row.status, style=WARNING if row.status == "killed" else ""),
        )
    return table


def _verdict(answer: RanksAnswer) -> list[RenderableType]:
    if answer.straggler is not None:
        return [Text(""), *_straggler(answer.straggler)]
    if answer.skew_ms is None:
        return []
    return [Text(""), indented(Text("There is no single rank that the others wait for."))]


def _straggler(found: Straggler) -> list[RenderableType]:
    who, colon, why = found.sentence.partition(":")
    text = Text(who, style="bold").append(colon + why, style="not bold")
    parts: list[RenderableType] = [indented(text)]
    if found.location is not None:
        where = Text(f"{found.location.file}:{found.location.line}", style=CODE)
        where.append(f"  in {found.location.function}", style=FAINT)
        where.append(f"  {(found.source or '').strip()}")
        parts.append(indented(where))
    return parts
