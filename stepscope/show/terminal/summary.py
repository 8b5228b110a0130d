"""The summary: the whole run, its steps, its hottest lines, our own cost, and what to type next."""

import shlex
from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.analyze.answers.headline import headline
from stepscope.analyze.answers.next_questions import next_questions
from stepscope.analyze.code.hottest_lines import summary_lines
from stepscope.model import Ending, SummaryAnswer
from stepscope.model.categories import LEAST_SHARE
from stepscope.model.findings import FindingsAnswer
from stepscope.model.phase_colours import part_colour
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.command import Command
from stepscope.show.terminal.drawing.numbers import counted, duration, percent
from stepscope.show.terminal.drawing.page import (
    FAINT,
    WARNING,
    columns,
    heading,
    indented,
    notes_block,
    page,
)
from stepscope.show.terminal.findings import verdict_block
from stepscope.show.terminal.hottest import hottest_block, line_block
from stepscope.show.terminal.steps import cost_line, steps_block

_UNKNOWN: Final = "1970-01-01T"  # some files do not say when


def summary(
    answer: SummaryAnswer, findings: FindingsAnswer | None = None, *, top: int | None = None
) -> RenderableType:
    """`top`: of the hottest lines."""
    hottest = summary_lines(answer)[: top or None]
    return page(
        _without_double_gaps(
            *_headline(answer, findings),
            _title(answer),
            Text(""),
            _contents(answer) if answer.is_trace else _whole_run(answer),
            Text(""),
            *_steps(answer),
            *hottest_block(hottest, run_ns=answer.wall_ns),
            *([] if answer.is_trace else [cost_line(answer.steps)]),
            *notes_block(answer.notes),
            Text(""),
            _next(answer, findings),
        )
    )


def _without_double_gaps(*parts: RenderableType) -> Iterator[RenderableType]:
    """Each block has a gap below it; where one is left out, its gap is, too."""
    is_gap = False
    for part in parts:
        was_gap, is_gap = is_gap, isinstance(part, Text) and not part.plain
        if not (was_gap and is_gap):
            yield part


def _headline(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[RenderableType]:
    """What only concerns the steps is shown below, with them."""
    found = headline(answer, advice)
    if found.about == "findings" and advice is not None:
        return [*verdict_block(advice), Text("")]
    return line_block(found) if found.about == "line" else []


def _title(answer: SummaryAnswer) -> RenderableType:
    title = answer.run if answer.is_trace else shlex.join(answer.command)
    text = Text(title, style="bold cyan", no_wrap=True, overflow="ellipsis")
    below = Text(answer.ending.words, style=_ending_style(answer.ending))
    below.append(f" · {counted(answer.processes, 'process', 'processes')}", style=FAINT)
    if not answer.started.startswith(_UNKNOWN):
        below.append(f" · started {answer.started.replace('T', ' ')}", style=FAINT)
    return Group(text, below)


def _ending_style(ending: Ending) -> str:
    if ending.how == "running":
        return "green"
    is_fine = ending.how == "stopped" or (ending.how == "exited" and not ending.exit_status)
    return FAINT if is_fine else WARNING


def _whole_run(answer: SummaryAnswer) -> RenderableType:
    table = columns(("", "label"), ("", "fill"), ("", "right"), ("", "right"), header=False)
    for part in answer.parts:
        if part.share < LEAST_SHARE:
            continue
        style = part_colour(part.category)
        row = (part.category, Bar(part.share, style), duration_cell(part.ns), percent(part.share))
        table.add_row(*row)
    took = duration(answer.wall_ns) if answer.parts else "nothing was recorded"
    whose = "The whole run" if answer.rank is None else f"Rank {answer.rank}"
    return Group(heading(whose, took), indented(table))


def _contents(answer: SummaryAnswer) -> RenderableType:
    lines = [indented(Text(each)) for each in answer.contents]
    return Group(heading("The trace", duration(answer.trace_ns) if answer.trace_ns else ""), *lines)


def _steps(answer: SummaryAnswer) -> list[RenderableType]:
    """Nothing in files that only count functions, lines or memory."""
    if answer.is_trace and "steps" not in answer.has:
        return []
    return [steps_block(answer.steps), Text("")]


def _next(answer: SummaryAnswer, advice: FindingsAnswer | None) -> RenderableType:
    asked = next_questions(answer, advice)
    width = max((len(each.words) for each in asked), default=0)
    commands = [Command(each.command, f"  {each.words:<{width}}   ") for each in asked]
    return Group(heading("Next"), *commands)
