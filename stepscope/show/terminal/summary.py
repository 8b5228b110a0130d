"""The summary: the whole run, its steps, its hottest lines, our own cost, and what to type next."""

import shlex

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
from stepscope.show.terminal.drawing.numbers import counted, duration, percent
from stepscope.show.terminal.drawing.page import (
    CODE,
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


def summary(answer: SummaryAnswer, findings: FindingsAnswer | None = None) -> RenderableType:
    hottest = summary_lines(answer)
    return page(
        [
            _title(answer),
            *_headline(answer, findings),
            Text(""),
            _whole_run(answer),
            Text(""),
            steps_block(answer.steps),
            Text(""),
            *hottest_block(hottest, run_ns=answer.wall_ns),
            cost_line(answer.steps),
            *notes_block(answer.notes),
            Text(""),
            _next(answer, findings),
        ]
    )


def _headline(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[RenderableType]:
    """What only concerns the steps is shown below, with them."""
    found = headline(answer, advice)
    if found.about == "findings" and advice is not None:
        return [Text(""), *verdict_block(advice)]
    return line_block(found) if found.about == "line" else []


def _title(answer: SummaryAnswer) -> RenderableType:
    text = Text(shlex.join(answer.command), style="bold cyan", no_wrap=True, overflow="ellipsis")
    below = Text(answer.ending.words, style=_ending_style(answer.ending))
    below.append(f" · {counted(answer.processes, 'process', 'processes')}", style=FAINT)
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
    return Group(heading("The whole run", took), indented(table))


def _next(answer: SummaryAnswer, advice: FindingsAnswer | None) -> RenderableType:
    asked = next_questions(answer, advice)
    width = max(len(each.words) for each in asked)
    lines: list[RenderableType] = [heading("Next")]
    for each in asked:
        line = Text(f"  {each.words:<{width}}   ", style=FAINT, no_wrap=True, overflow="ignore")
        lines.append(line.append(each.command, style=CODE))
    return Group(*lines)
