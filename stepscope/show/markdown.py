"""A comparison as Markdown, for a pull request."""

import re
from collections.abc import Iterable
from typing import Final

from stepscope.model.comparison import (
    Change,
    ComparedRun,
    ComparisonAnswer,
    ComparisonsAnswer,
    Difference,
)
from stepscope.show.terminal.comparison import all_differences, measured_steps, throughput
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    duration,
    milliseconds,
    percent,
    size,
    times,
)
from stepscope.show.terminal.drawing.paths import short_paths
from stepscope.spelled_out import spelled_out

_MOST: Final = 5  # rows of a kind
_LEAST: Final = 0.05  # of the change: a reviewer wants the reasons, not the noise
_TITLES: Final = {"phase": "phase", "line": "line", "op": "operator", "kernel": "kernel"}


def comparison_page(answer: ComparisonAnswer) -> str:
    parts = [
        f"**{_words(answer.verdict)}**",
        _runs_table(answer.runs),
        *(_change_table(answer, what) for what in _TITLES),
        *_differences(answer.differences),
        *_findings(answer),
    ]
    return "\n\n".join(part for part in parts if part)


def comparisons_page(answer: ComparisonsAnswer) -> str:
    names = short_paths(run.run for run in answer.runs)
    rows = []
    for run, against in zip(answer.runs, [None, *answer.comparisons], strict=True):
        gain = "the first" if against is None else _gain(against)
        rows.append([_code(names[run.run]), *_figures(run), gain])
    head = ["run", "mean step", "throughput", "peak memory", "speed-up"]
    return "\n\n".join([_table(head, rows), *_differences(all_differences(answer))])


def _gain(answer: ComparisonAnswer) -> str:
    said = f"{times(answer.speedup)} ({times(answer.low)} to {times(answer.high)})"
    return said if answer.significant else f"{said}, within noise"


def _runs_table(runs: list[ComparedRun]) -> str:
    names = short_paths(run.run for run in runs)
    rows = [
        [title, _code(names[run.run]), *_figures(run), measured_steps(run)]
        for title, run in zip(("before", "after"), runs, strict=True)
    ]
    return _table(["", "run", "mean step", "throughput", "peak memory", "measured"], rows)


def _figures(run: ComparedRun) -> list[str]:
    return [milliseconds(run.step_ms.mean), throughput(run), size(run.peak_bytes)]


def _change_table(answer: ComparisonAnswer, what: str) -> str:
    rows = [row for row in answer.changes if row.what == what]
    rows = [row for row in rows if abs(row.share or 0.0) >= _LEAST][:_MOST]
    if not rows or not answer.significant:
        return ""
    files = short_paths(row.location.file for row in rows if row.location)
    head = [_TITLES[what], "before", "after", "of the change", ""]
    return _table(head, [_change(row, files) for row in rows])


def _change(row: Change, files: dict[str, str]) -> list[str]:
    where = f"{files[row.location.file]}:{row.location.line}" if row.location else ""
    return [_code(row.name), duration(row.before_ns), duration(row.after_ns), percent(row.share),
            _code(where) if where else ""]  # fmt: skip


def _differences(differences: Iterable[Difference]) -> list[str]:
    rows = [
        _words(f"- {each.what}: {each.before}, then {each.after}: {each.effect}")
        for each in differences
    ]
    return ["Not the same:\n\n" + "\n".join(rows)] if rows else []


def _findings(answer: ComparisonAnswer) -> list[str]:
    rows = [f"- {each.change}: {_words(each.title)}" for each in answer.findings]
    return ["Findings:\n\n" + "\n".join(rows)] if rows else []


def _code(words: str) -> str:
    """Markdown's own characters as they are; a bar would end the cell, and as many backticks as it
    began with end the code."""
    clean = spelled_out(words, lines=False).replace("|", "\\|")
    most = max((len(run) for run in re.findall("`+", clean)), default=0)
    fence = "`" * (most + 1)
    return f"{fence} {clean} {fence}" if most else f"`{clean}`"


def _words(text: str) -> str:
    """A sentence with names in it: no tags, links or images."""
    return re.sub(r"([<\[\]])", r"\\\1", spelled_out(text, lines=False))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell or NOTHING for cell in line)} |" for line in lines)
