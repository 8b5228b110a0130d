"""The comparison view: faster or not, how sure, what made the difference."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model.comparison import (
    Change,
    ComparedRun,
    ComparisonAnswer,
    ComparisonsAnswer,
    Difference,
    FindingChange,
)
from stepscope.show.terminal.drawing.cells import duration_cell, size_cell
from stepscope.show.terminal.drawing.numbers import (
    count,
    counted,
    digits,
    duration,
    duration_range,
    milliseconds,
    percent,
    times,
)
from stepscope.show.terminal.drawing.page import (
    FAINT,
    WARNING,
    columns,
    heading,
    indented,
    name,
    notes_block,
    page,
)
from stepscope.show.terminal.drawing.paths import PathCell, short_paths

_TITLES: Final = {
    "phase": "Phases",
    "function": "Functions",
    "line": "Lines",
    "op": "Operators",
    "kernel": "Kernels",
}
_MOST: Final = 8  # rows of a kind
_LEAST: Final = 0.005  # of the longer step: less is not shown as a change
_WIDEST_NAME: Final = 44
_SIGNS: Final = {"gone": ("−", "green"), "new": ("+", WARNING), "still there": ("=", FAINT)}


def comparison(answer: ComparisonAnswer, *, top: int | None = None) -> RenderableType:
    return page(
        [
            Text(answer.verdict, style=_style(answer)),
            Text(""),
            _runs(answer.runs),
            *_differences(answer.differences),
            *_changes(answer, _MOST if top is None else top),
            *_findings(answer.findings),
            *notes_block(answer.notes),
        ]
    )


def comparisons(answer: ComparisonsAnswer) -> RenderableType:
    """Several runs: one row each, against the first."""
    table = columns(
        ("run", "name"), ("step", "right"), ("throughput", "right"), ("memory", "right"),
        ("speed-up", "right"), ("range", "left"), ("", "left"),
    )  # fmt: skip
    names = _names(answer.runs)
    for run, against in zip(answer.runs, [None, *answer.comparisons], strict=True):
        table.add_row(
            PathCell(names[run.run]),
            milliseconds(run.step_ms.mean),
            throughput(run),
            size_cell(run.peak_bytes),
            *_speedup_cells(against),
        )
    return page(
        [
            heading("Compared with the first"),
            indented(table),
            *_differences(all_differences(answer)),
        ]
    )


def all_differences(answer: ComparisonsAnswer) -> list[Difference]:
    """Each once, with what it is in the runs that have it: `x, then y or z`."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for each in (each for one in answer.comparisons for each in one.differences):
        found.setdefault((each.what, each.before, each.effect), {})[each.after] = None
    return [
        Difference(what=what, before=before, after=" or ".join(after), effect=effect)
        for (what, before, effect), after in found.items()
    ]


def _speedup_cells(against: ComparisonAnswer | None) -> tuple[str | Text, ...]:
    if against is None:
        return "", "", Text("the first", style=FAINT)
    sure = "" if against.significant else "within noise"
    ends = f"{times(against.low)} to {times(against.high)}"
    return Text(times(against.speedup), style=_style(against)), ends, Text(sure, style=FAINT)


def _style(answer: ComparisonAnswer) -> str:
    if not answer.significant:
        return "bold"
    return "bold green" if answer.decisive > 1 else "bold red"


def _names(runs: Iterable[ComparedRun]) -> dict[str, str]:
    """Without the ending that all share: where room is short, it would be all that is left."""
    names = short_paths(run.run for run in runs)
    endings = {"".join(PurePath(name).suffixes) for name in names.values()}
    ending = endings.pop() if len(names) > 1 and len(endings) == 1 else ""
    return {path: name.removesuffix(ending) for path, name in names.items()}


def _runs(runs: list[ComparedRun]) -> RenderableType:
    names = _names(runs)
    table = columns(
        ("", "left"), ("mean step", "right"), ("p10–p90", "right"), ("measured", "right"),
        ("throughput", "right"), ("memory", "right"), ("run", "name"),
    )  # fmt: skip
    for title, run in zip(("before", "after"), runs, strict=True):
        table.add_row(
            title,
            milliseconds(run.step_ms.mean),
            _spread(run),
            measured_steps(run),
            throughput(run),
            size_cell(run.peak_bytes),
            PathCell(names[run.run]),
        )
    return indented(table)


def measured_steps(run: ComparedRun) -> str:
    if run.runs > 1:
        return f"{count(run.steps)} in {run.runs} runs"
    return counted(run.steps, "step")


def _spread(run: ComparedRun) -> str:
    return duration_range(1e6 * run.step_ms.p10, 1e6 * run.step_ms.p90)


def throughput(run: ComparedRun) -> str:
    if run.samples_per_s is not None:
        return f"{digits(run.samples_per_s)} samples/s"
    return f"{digits(run.per_s)} steps/s"


def _differences(differences: list[Difference]) -> list[RenderableType]:
    if not differences:
        return []
    table = Table.grid(padding=(0, 1))
    for each in differences:
        words = Text(f"{each.what}: {each.before}, then {each.after}: ")
        table.add_row(Text("!", style=WARNING), words.append(each.effect, style="bold"))
    return [Text(""), heading("Not the same"), indented(table)]


def _changes(answer: ComparisonAnswer, top: int) -> list[RenderableType]:
    if not answer.changes:
        return []
    unit = "sample" if "sample" in answer.basis else "step"
    parts: list[RenderableType] = [
        Text(""), heading("What made the difference", f"time of a {unit}"),
    ]  # fmt: skip
    files = short_paths(row.location.file for row in answer.changes if row.location)
    for what, title in _TITLES.items():
        rows = [row for row in answer.changes if row.what == what]
        if rows:
            parts.append(indented(_table(title, rows, top, files)))
    return parts


def _table(title: str, rows: list[Change], top: int, files: dict[str, str]) -> RenderableType:
    longest = max(sum(row.before_ns for row in rows), sum(row.after_ns for row in rows))
    shown = [row for row in rows if abs(row.after_ns - row.before_ns) >= _LEAST * longest]
    cut = shown[: top or None]
    table = columns(
        (title, "label" if title == _TITLES["phase"] else "name"), ("before", "right"),
        ("after", "right"), ("change", "right"), ("of it", "right"), ("", "name"),
    )  # fmt: skip
    for row in cut:
        change = row.after_ns - row.before_ns
        table.add_row(
            name(_cut(row.name)),
            duration_cell(row.before_ns),
            duration_cell(row.after_ns),
            Text(_signed(change), style="green" if change < 0 else "red"),
            percent(row.share),
            _place(row, files),
        )
    if not cut:
        return Group(Text(title, style=FAINT), Text("  nothing that takes a different time"))
    left = len(shown) - len(cut)
    more = [Text(f"… {left} more: --top 0 shows all", style=FAINT)] if left else []
    return Group(table, *more)


def _place(row: Change, files: dict[str, str]) -> RenderableType:
    if row.location is None:
        return ""
    return PathCell(files[row.location.file], f":{row.location.line}")


def _cut(words: str) -> str:
    """Kernels have names of hundreds of characters."""
    return words if len(words) <= _WIDEST_NAME else words[: _WIDEST_NAME - 1] + "…"


def _signed(ns: float) -> str:
    return f"+{duration(ns)}" if ns > 0 else duration(ns)


def _findings(findings: list[FindingChange]) -> list[RenderableType]:
    if not findings:
        return []
    table = Table.grid(padding=(0, 1))
    for each in findings:
        sign, style = _SIGNS[each.change]
        shares = f"{percent(each.before)} → {percent(each.after)}"
        aside = shares if each.change == "still there" else each.change
        table.add_row(Text(sign, style=style), Text(each.title), Text(aside, style=FAINT))
    return [Text(""), heading("Findings"), indented(table)]
