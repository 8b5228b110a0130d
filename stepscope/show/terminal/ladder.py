"""The ladder of `stepscope try`: throughput rung by rung, what was predicted, what to write."""

import math
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from stepscope.model.trial import Rung, TrialAnswer
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.command import Command
from stepscope.show.terminal.drawing.numbers import NOTHING, counted, digits, duration, times
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    columns,
    heading,
    indented,
    notes_block,
    page,
)

_WORTH: Final = 1.1  # a gain that one would want to be sure about
_STYLES: Final = {"kept": "bold green", "rejected": "dim", "failed": "red", "skipped": "dim"}


def ladder(answer: TrialAnswer) -> RenderableType:
    parts: list[RenderableType] = [Text(_headline(answer), style="bold")]
    parts += [Text(f"As it is: {answer.baseline.verdict}", style=FAINT), Text("")]
    parts += _climb(answer)
    parts += _not_kept(answer)
    parts += _patches(answer)
    parts += notes_block(answer.notes)
    return page([*parts, *_next(answer)])


def in_one_line(rung: Rung) -> str:
    """`num-workers: kept, 2.31× (2.20–2.41)`."""
    words = [f"{rung.fix or rung.finding}: {_kind(rung)}"]
    if rung.speedup is not None:
        words.append(_measured(rung))
    if rung.reason is not None:
        words.append(rung.reason)
    return ", ".join(words)


def _headline(answer: TrialAnswer) -> str:
    kept = [rung for rung in answer.rungs if rung.status == "kept"]
    if not answer.rungs:
        return "Nothing to try: no finding names a fix."
    if not any(rung.step_ms for rung in answer.rungs):
        return f"No fix was measured: {answer.stopped or 'none can be applied here'}."
    if not kept:
        return _nothing_kept(answer)
    fixes = counted(len(kept), "fix", "fixes")
    # An answer that was kept from before has only its rungs.
    gained = answer.gained or math.prod(rung.speedup or 1.0 for rung in kept)
    return f"{times(gained)} as fast with {fixes}"


def _is_in_doubt(rung: Rung) -> bool:
    is_measured = rung.status == "rejected" and not rung.is_ceiling
    return is_measured and (rung.speedup or 1.0) >= _WORTH and (rung.low or 1.0) <= 1


def _nothing_kept(answer: TrialAnswer) -> str:
    ceilings = [rung.low or 1.0 for rung in answer.rungs if rung.is_ceiling]
    if any(_is_in_doubt(rung) for rung in answer.rungs):
        return "Nothing to keep yet: what looks faster is not beyond doubt."
    if max(ceilings, default=1.0) > 1:
        return "Nothing to keep: what was measured shows only how much there is to gain."
    return "No fix gains anything that stands out from the noise."


# --- the rungs ------------------------------------------------------------------------------------


def _climb(answer: TrialAnswer) -> list[RenderableType]:
    measured = [rung for rung in answer.rungs if rung.step_ms]
    if not measured:
        return []
    rates = [1e3 / answer.baseline.step_ms, *(1e3 / (rung.step_ms or 1.0) for rung in measured)]
    table = columns(
        ("", "label"),
        ("steps/s", "right"),
        ("", "fill"),
        ("measured", "left"),
        ("predicted", "left"),
    )
    table.add_row("as it is", digits(rates[0]), Bar(rates[0] / max(rates), "bold"), "", "")
    for rung, rate in zip(measured, rates[1:], strict=True):
        style = _STYLES[rung.status]
        name = Text(f"{'+ ' if rung.status == 'kept' else '  '}{rung.fix}", style=style)
        bar = Bar(rate / max(rates), style)
        table.add_row(name, digits(rate), bar, Text(_measured(rung), style=style), _predicted(rung))
    return [heading("Step by step", _noise(answer)), indented(table), *_losses(measured), Text("")]


def _measured(rung: Rung) -> str:
    return _range(rung.speedup or 1.0, rung.low or 1.0, rung.high or 1.0)


def _range(expected: float, low: float, high: float) -> str:
    return f"{times(expected)} ({digits(low)}–{digits(high)})"


def _predicted(rung: Rung) -> str:
    if rung.predicted is None:
        return NOTHING
    predicted = rung.predicted
    if predicted.high is None:
        return f"at least {times(predicted.low)}"
    return _range(predicted.expected, predicted.low, predicted.high)


def _noise(answer: TrialAnswer) -> str:
    if answer.noise is None:
        return ""
    return f"the script against itself: {digits(answer.noise.low)}–{digits(answer.noise.high)}×"


def _losses(measured: list[Rung]) -> list[RenderableType]:
    checked = [rung for rung in measured if rung.status == "kept" and rung.loss is not None]
    rows = [Text(f"{rung.fix}: {rung.loss.words}") for rung in checked if rung.loss]
    return [Text(""), heading("Losses"), *(indented(row) for row in rows)] if rows else []


def _not_kept(answer: TrialAnswer) -> list[RenderableType]:
    rungs = [rung for rung in answer.rungs if rung.status != "kept"]
    if not rungs:
        return []
    table = columns(("", "label"), ("", "name"), header=False)
    for rung in rungs:
        words = Text.assemble((_kind(rung), _STYLES[rung.status]), f": {_why(rung)}")
        table.add_row(rung.fix or rung.finding or "", words)
    return [heading("Not kept"), indented(table), Text("")]


def _kind(rung: Rung) -> str:
    if rung.ceiling is not None:
        return "ceiling, computed"
    return "ceiling, measured" if rung.is_ceiling and rung.speedup is not None else rung.status


def _why(rung: Rung) -> str:
    """With what to do about it, where only that can be said."""
    if rung.ceiling is not None:
        computed = "(computed from its share of the step, not measured)"
        reason = (rung.reason or "").rstrip(".")
        return f"{rung.title}: {reason}; at most {times(rung.ceiling)} {computed}"
    if rung.is_ceiling and rung.speedup is not None:
        advice = (rung.patch or "").lstrip("# ").strip()
        at_most = "at most " if (rung.low or 0.0) > 1 else ""
        return f"{at_most}{_measured(rung)}, {rung.reason}. {advice}".strip()
    return rung.reason or ""


# --- what to do -----------------------------------------------------------------------------------


def _patches(answer: TrialAnswer) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for rung in answer.rungs:
        if rung.status == "kept" and rung.patch:
            title = Text(f"{rung.title}  ")
            title.append(rung.what or "", style=CODE)
            kind = "diff" if rung.patch.startswith("---") else "python"
            patch = Syntax(rung.patch.rstrip(), kind, background_color="default", word_wrap=True)
            parts += [indented(title), Padding(patch, (0, 0, 1, 4))]
    return [heading("To write by hand"), *parts] if parts else []


def _next(answer: TrialAnswer) -> list[RenderableType]:
    best = [rung.run for rung in answer.rungs if rung.status == "kept" and rung.run]
    spent = f"{counted(answer.runs, 'run')} in {duration(answer.seconds * 1e9)}{_in_steps(answer)}"
    look = best[-1] if best else answer.baseline.run
    which = "with what was kept" if best else "as it is"
    return [
        Text(""),
        Text(f"{spent}, in {answer.folder}", style=FAINT),
        Text(f"To look into the run {which}:"),
        Command(f"stepscope show {look}", style=""),
    ]


def _in_steps(answer: TrialAnswer) -> str:
    """What the time went into: imports and set-up of every run are most of it in a short one."""
    if not answer.step_seconds:
        return ""
    rest = max(0.0, answer.seconds - answer.step_seconds)
    return (
        f" ({duration(answer.step_seconds * 1e9)} in steps, {duration(rest * 1e9)} in imports and "
        "set-up)"
    )
