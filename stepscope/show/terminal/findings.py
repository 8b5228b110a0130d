"""The findings view: one sentence, then each finding with its gain, its evidence and its fix."""

from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from stepscope.model.findings import Finding, FindingsAnswer, NotJudged
from stepscope.show.terminal.drawing.numbers import count, counted, digits, milliseconds
from stepscope.show.terminal.drawing.page import CODE, FAINT, columns, heading, indented, more, page

_MOST_SLOW: Final = 5
_STYLES: Final = {"high": "bold red", "medium": "bold yellow", "low": "bold"}


def findings(answer: FindingsAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.findings[:top] if top else answer.findings
    parts: list[RenderableType] = [Text(answer.verdict, style="bold"), Text("")]
    for number, finding in enumerate(shown, 1):
        parts += [_finding(number, finding), Text("")]
    parts += more(len(answer.findings), len(shown), "finding")
    parts += _slow_steps(answer)
    parts += _not_judged([each for each in answer.not_judged if each.reason != answer.verdict])
    return page(parts)


def verdict_block(answer: FindingsAnswer) -> list[RenderableType]:
    """For the summary: the sentence, and the first findings, one line each."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    for finding in answer.findings[:3]:
        style = _STYLES[finding.severity]
        gain = Text(f"{finding.gain or '–'}{_measured(finding)}", style=style)
        rows.add_row(gain, Text(finding.id, style=CODE), finding.title)
    return [Text(answer.verdict, style="bold"), *([indented(rows)] if answer.findings else [])]


def _finding(number: int, finding: Finding) -> RenderableType:
    title = Text(f"{number}. {finding.title}  ", style=_STYLES[finding.severity])
    title.append(finding.id, style=CODE)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=FAINT, no_wrap=True)
    table.add_column()
    for label, value in _rows(finding):
        table.add_row(label, value)
    parts: list[RenderableType] = [title, indented(table, left=3)]
    if finding.patch:
        patch = Syntax(finding.patch.rstrip(), "diff", background_color="default", word_wrap=True)
        parts.append(Padding(patch, (0, 0, 0, 5)))
    return Group(*parts)


def _rows(finding: Finding) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = []
    if finding.gain:
        low, high = finding.speedup.low, finding.speedup.high
        ends = f" ({digits(low)}–{digits(high)}×)" if high is not None else ""
        gain = f"{finding.gain}{ends}{_measured(finding)}"
        rows.append(("gain", Text(f"{gain}  {finding.then or ''}".rstrip())))
    if finding.location is not None:
        place = Text(f"{finding.location.file}:{finding.location.line}", style=CODE)
        if finding.location.function:
            place.append(f"  {finding.location.function}", style="not bold")
        rows.append(("where", place))
        if finding.source:
            rows.append(("", Text(finding.source.strip(), style=FAINT)))
    rows += [
        ("evidence" if not index else "", Text(each)) for index, each in enumerate(finding.evidence)
    ]
    rows.append(("fix", Text(finding.fix)))
    rows.append(("severity", Text(finding.severity, style=FAINT)))
    rows.append(("confidence", Text(finding.confidence, style=FAINT)))
    return rows


def _measured(finding: Finding) -> str:
    return ", measured" if finding.measured else ""


def _slow_steps(answer: FindingsAnswer) -> list[RenderableType]:
    if not answer.outliers:
        return []
    table = columns(("step", "right"), ("took", "right"), ("usual", "right"), ("why", "name"))
    for each in answer.outliers[:_MOST_SLOW]:
        took, usual = milliseconds(each.duration_ms), milliseconds(each.usual_ms)
        table.add_row(count(each.number), took, usual, each.why)
    is_cut = len(answer.outliers) > _MOST_SLOW
    how_many = f"the {_MOST_SLOW} slowest" if is_cut else counted(len(answer.outliers), "step")
    return [heading("Slow steps", how_many), indented(table), Text("")]


def _not_judged(reasons: list[NotJudged]) -> list[RenderableType]:
    if not reasons:
        return []
    by_reason: dict[str, list[str]] = {}
    for each in reasons:
        by_reason.setdefault(each.reason, []).append(each.id)
    lines = [Text(f"{', '.join(ids)}: {reason}", style=FAINT) for reason, ids in by_reason.items()]
    return [heading("Checks that did not apply"), *(indented(line) for line in lines)]
