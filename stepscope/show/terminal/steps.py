"""The steps view: how many, how long, how regular, and where their time goes."""

import os
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.analyze.answers.headline import most_of_each_step
from stepscope.model import Share, StepsAnswer
from stepscope.model.categories import LEAST_SHARE
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.model.phase_colours import phase_colour
from stepscope.model.rare import is_rare
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import milliseconds_cell
from stepscope.show.terminal.drawing.numbers import (
    count,
    counted,
    digits,
    duration,
    duration_range,
    milliseconds,
    percent,
)
from stepscope.show.terminal.drawing.page import (
    FAINT,
    WARNING,
    columns,
    figures,
    heading,
    indented,
    notes_block,
    page,
)
from stepscope.show.terminal.drawing.paths import cut_path
from stepscope.show.terminal.each_step import course, each_block

_ANCHOR_WIDTH: Final = 55
_WORTH_A_WORD: Final = 0.01  # of the step
_OVER_BUDGET: Final = "the first seconds, and all with --exact, are counted in full"


def steps(answer: StepsAnswer, *, top: int | None = None, table: bool = True) -> RenderableType:
    """The whole view; with `table`, the single steps below it if the answer has them."""
    parts: list[RenderableType] = [steps_block(answer)]
    if answer.overhead is not None:
        parts += [Text(""), cost_line(answer)]
    if table and isinstance(answer.each, list):
        parts += [Text(""), each_block(answer.each, top=top)]
    return page([*parts, *notes_block(answer.notes)])


def steps_block(answer: StepsAnswer) -> RenderableType:
    """Count, times and breakdown: also the second block of the summary."""
    if answer.steps == 0:
        return Group(heading("Steps"), indented(Text(answer.reason or NOTHING_TO_SHOW["steps"])))
    parts: list[RenderableType] = [heading("Steps", _counts(answer))]
    if answer.anchor:
        counted = answer.rate.samples_are if answer.rate else None
        what = f"; samples: {counted}" if counted else ""
        parts.append(indented(Text(f"from {_short_anchor(answer.anchor)}{what}", style=FAINT)))
    if answer.reason:
        parts.append(indented(Text(answer.reason, style=WARNING)))
    if answer.step_ms is not None:
        parts += [indented(_times(answer))]
    if isinstance(answer.each, list):
        parts += course(answer.each)
    if answer.breakdown:
        parts += [
            indented(_breakdown(answer.breakdown)),
            *_only_in_some(answer),
            indented(Text(most_of_each_step(answer), style="bold")),
        ]
    return Group(*parts)


def _only_in_some(answer: StepsAnswer) -> list[RenderableType]:
    """Which categories only some steps have: a share of the mean step is not one of each."""
    rare = [
        f"{each.category} in {count(each.steps)}"
        for each in answer.breakdown or []
        if each.share >= _WORTH_A_WORD and is_rare(each.steps, answer.measured)
    ]
    if not rare:
        return []
    words = f"{', '.join(rare)} of {count(answer.measured)} steps only"
    return [indented(Text(words, style=FAINT))]


def _short_anchor(anchor: str) -> str:
    """`the loop at …/mnist/train.py:77`."""
    words, at, path = anchor.partition(" at ")
    return words + at + cut_path(path, _ANCHOR_WIDTH)


def cost_line(answer: StepsAnswer) -> Text:
    """What recording cost, and whether it kept its budget."""
    overhead = answer.overhead
    if overhead is None:
        return Text("stepscope's own cost was not measured in this run", style=FAINT)
    within = overhead.share <= overhead.budget
    of_what = "of the measured steps" if answer.steps else "of the recorded time"
    text = Text("stepscope's own cost  ", style="bold")
    text.append(percent(overhead.share), style="green" if within else WARNING)
    text.append(f" {of_what} (budget {percent(overhead.budget)})")
    if overhead.windows and answer.steps:
        windows = counted(overhead.windows, "operator window")
        text.append(f", plus {duration(overhead.windows_ns)} for {windows}")
    if not within:
        text.append(f"; {_OVER_BUDGET}", style=FAINT)
    if overhead.thinned:
        names = [name.rpartition(os.sep)[2] for name in overhead.thinned]
        named = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        text.append(f"; lines thinned out in {named}", style=FAINT)
    return text


def _counts(answer: StepsAnswer) -> str:
    words = [counted(answer.steps, "step")]
    if answer.warmup is not None:
        words.append(f"{count(answer.warmup)} warm-up")
    if answer.measured is not None:
        words.append(f"{count(answer.measured)} measured")
    return " · ".join(words)


def _times(answer: StepsAnswer) -> Table:
    """Mean, median, spread and rate, side by side."""
    spread, rate = answer.step_ms, answer.rate
    assert spread is not None  # the caller checks
    cells = [
        ("mean", milliseconds(spread.mean)),
        ("median", milliseconds(spread.median)),
        ("p10–p90", duration_range(1e6 * spread.p10, 1e6 * spread.p90)),
    ]
    if rate is not None:
        cells.append(("steps/s", digits(rate.per_s)))
        if rate.samples_per_s is not None:
            cells.append(("samples/s", digits(rate.samples_per_s)))
    return figures(cells)


def _breakdown(shares: list[Share]) -> Table:
    """One bar per category; they sum to the mean step."""
    with_device = any(share.device_ms is not None for share in shares)
    device = (("on device", "right"),) if with_device else ()
    table = columns(
        ("mean step", "label"), ("", "fill"), ("time", "right"), *device, ("share", "right")
    )
    for share in shares:
        if share.share < LEAST_SHARE and not share.device_ms:
            continue
        style = phase_colour(share.category)
        device_cell = (milliseconds_cell(share.device_ms),) if with_device else ()
        table.add_row(
            share.category,
            Bar(share.share, style),
            milliseconds_cell(share.ms),
            *device_cell,
            percent(share.share),
        )
    return table
