"""The steps view: how many, how long, how regular, and what each one spends its time on."""

from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model import Share, Step, StepsAnswer
from stepscope.show.terminal.bars import Bar, Sparkline
from stepscope.show.terminal.numbers import (
    count,
    counted,
    digits,
    duration,
    milliseconds,
    percent,
)
from stepscope.show.terminal.page import FAINT, WARNING, columns, heading, indented, more, page

BOUND_WORDS: Final = {
    "host": "the host's Python code",
    "device": "the device",
    "input": "waiting for input",
    "communication": "communication between ranks",
}
_CATEGORY_STYLES: Final = {
    "input": "magenta",
    "files": "magenta",
    "prepare": "yellow",
    "forward": "green",
    "backward": "blue",
    "optimizer": "cyan",
    "communication": "red",
    "sync": "red",
    "profiler": "dim",
    "unattributed": "dim",
}


def steps(answer: StepsAnswer, *, top: int | None = None) -> RenderableType:
    """The whole view; with `each`, the single steps below it."""
    parts: list[RenderableType] = [steps_block(answer)]
    if answer.overhead is not None:
        parts += [Text(""), cost_line(answer)]
    if isinstance(answer.each, list):
        parts += [Text(""), _each_block(answer.each, top=top)]
    return page(parts)


def steps_block(answer: StepsAnswer) -> RenderableType:
    """Count, times and breakdown: also the second block of the summary."""
    if answer.steps == 0:
        return Group(heading("Steps"), indented(Text(answer.reason or "No steps found.")))
    parts: list[RenderableType] = [heading("Steps", _counts(answer))]
    if answer.anchor:
        parts.append(indented(Text(f"from {answer.anchor}", style=FAINT)))
    if answer.reason:
        parts.append(indented(Text(answer.reason, style=WARNING)))
    if answer.step_ms is not None:
        parts += [indented(_times(answer))]
    if answer.breakdown:
        parts += [indented(_breakdown(answer.breakdown))]
    if answer.bound is not None:
        parts.append(indented(Text(f"bound by {BOUND_WORDS[answer.bound]}")))
    return Group(*parts)


def cost_line(answer: StepsAnswer) -> Text:
    """What recording cost, and whether it kept its budget."""
    overhead = answer.overhead
    if overhead is None:
        return Text("stepscope's own cost was not measured in this run", style=FAINT)
    within = overhead.share <= overhead.budget
    of_what = "of the measured steps" if answer.steps else "of the run"
    text = Text("stepscope's own cost  ", style="bold")
    text.append(percent(overhead.share), style="green" if within else WARNING)
    text.append(f" {of_what} (budget {percent(overhead.budget)})")
    if overhead.thinned:
        named = ", ".join(overhead.thinned[:3]) + (", …" if len(overhead.thinned) > 3 else "")
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
    assert spread is not None  # the caller's condition
    cells = [
        ("mean", milliseconds(spread.mean)),
        ("median", milliseconds(spread.median)),
        ("p10 to p90", f"{milliseconds(spread.p10)} to {milliseconds(spread.p90)}"),
    ]
    if rate is not None:
        cells.append(("steps a second", digits(rate.per_s)))
        if rate.samples_per_s is not None:
            cells.append(("samples a second", digits(rate.samples_per_s)))
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(*(Text(title, style=FAINT) for title, _ in cells))
    table.add_row(*(Text(value, style="bold") for _, value in cells))
    return table


def _breakdown(shares: list[Share]) -> Table:
    """A bar a category; they sum to the mean step."""
    with_device = any(share.device_ms is not None for share in shares)
    device = (("on device", "right"),) if with_device else ()
    table = columns(
        ("of each step", "label"), ("", "fill"), ("time", "right"), *device, ("share", "right")
    )
    for share in shares:
        if not share.ms and not share.device_ms:
            continue
        style = _CATEGORY_STYLES.get(share.category, "green")
        device_cell = (milliseconds(share.device_ms),) if with_device else ()
        table.add_row(
            share.category,
            Bar(share.share, style),
            milliseconds(share.ms),
            *device_cell,
            percent(share.share),
        )
    return table


def _each_block(each: list[Step], *, top: int | None) -> RenderableType:
    """One row a step, in the order given, and a sparkline of all of them."""
    shown = each[:top] if top else each
    categories = sorted({category for step in shown for category in step.phases})
    table = columns(
        ("step", "right"),
        ("start", "right"),
        ("time", "right"),
        *((category, "right") for category in categories),
        ("", "left"),
    )
    numbers = {start: number for number, start in enumerate(sorted(s.start_ns for s in each), 1)}
    for step in shown:
        phases = [duration(step.phases[c]) if c in step.phases else "" for c in categories]
        table.add_row(
            count(numbers[step.start_ns]),
            duration(step.start_ns),
            duration(step.duration_ns),
            *phases,
            "" if step.measured else "not measured",
            style="" if step.measured else FAINT,
        )
    in_order = [step.duration_ns for step in sorted(each, key=lambda step: step.start_ns)]
    return Group(
        heading("Each step", "the line shows the slowest of each column's steps"),
        indented(Sparkline(in_order, "green")),
        indented(table),
        *more(len(each), len(shown), "step"),
    )
