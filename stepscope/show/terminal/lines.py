"""The lines view: line_profiler's columns, hottest functions first, with the whole source."""

from collections.abc import Callable, Iterator
from typing import Final

from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    OverflowMethod,
    RenderableType,
    RenderResult,
)
from rich.constrain import Constrain
from rich.text import Text

from stepscope.analyze.code.hottest_lines import hottest_lines
from stepscope.model import FunctionLines, LineRow, LinesAnswer
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.show.terminal.drawing.numbers import (
    TIME_UNITS_NS,
    count,
    counted,
    digits,
    duration,
    padded_duration,
    padded_size,
    percent,
)
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    WIDEST,
    heading,
    more,
    notes_block,
    of_several_processes,
    process_name,
)
from stepscope.show.terminal.hottest import hottest_block

TITLES: Final = ("Line #", "Hits", "Time", "Per Hit", "% Time")
ESTIMATE_LEGEND: Final = (
    "~ an estimate: the line was thinned out to stay in the budget. Its time comes from samples, "
    "its hits from that and what a hit took while they were counted. "
    "'stepscope run --exact' counts all."
)
_LEAST_WIDTHS: Final = (6, 9, 9, 9, 6)
_LEAST_SOURCE: Final = 32  # characters; with less, a line cannot be told from another
OPERATORS_LEGEND: Final = (
    "Ops, Device, Alloc: of the operators that the line called itself, in the operator windows."
)
NO_ROOM_LEGEND: Final = "no room for the times of operators, which a wider terminal shows"
_MORE_WIDTH: Final = 9
# Only if the operator windows have figures for it.
_MORE_COLUMNS: Final[dict[str, Callable[[LineRow], str | None]]] = {
    "Ops": lambda row: None if row.ops_ns is None else padded_duration(row.ops_ns),
    "Device": lambda row: None if row.device_ns is None else padded_duration(row.device_ns),
    "Alloc": lambda row: None if row.alloc_bytes is None else padded_size(row.alloc_bytes),
}
_QUIET: Final = 0.001  # of a module's time: faster lines are only counted, not shown
_HOT: Final = ((0.2, "bold red"), (0.05, "yellow"), (0.0, ""))


def lines(
    answer: LinesAnswer,
    *,
    top: int | None = None,
    unit_s: float | None = None,
    hottest: bool = True,
) -> RenderableType:
    """All functions, or the `top` hottest; times in `unit_s`, or each in the unit that fits it.

    Functions are sorted by their total, so those that only call others come first: with `hottest`,
    the lines that spend the time themselves come before them, and modules are kept short.
    """
    shown = answer.functions[:top] if top else answer.functions
    several = of_several_processes(answer.functions)
    parts: list[RenderableType] = [*_hottest(answer)] if hottest else []
    for function in shown:
        table = FunctionTable(function, unit_s=unit_s, name_process=several, brief=hottest)
        parts += [table, Text("")]
    if not shown:
        parts.append(Text(NOTHING_TO_SHOW["lines"]))
    if any(row.estimated for function in shown for row in function.lines):
        parts += [Text(ESTIMATE_LEGEND, style=FAINT), Text("")]
    if any(row.ops_ns is not None for function in shown for row in function.lines):
        parts += [_OperatorsLegend(max(_more_columns(each) for each in shown)), Text("")]
    parts += more(len(answer.functions), len(shown), "function")
    return Group(*parts, *notes_block(answer.notes))


def _hottest(answer: LinesAnswer) -> list[RenderableType]:
    if len(answer.functions) < 2:
        return []
    return [Constrain(Group(*hottest_block(hottest_lines(answer))), WIDEST)]


def _more_of(
    function: FunctionLines,
) -> Iterator[tuple[str, Callable[[LineRow], str | None]]]:
    for title, cell in _MORE_COLUMNS.items():
        if any(cell(row) is not None for row in function.lines):
            yield title, cell


def _more_columns(function: FunctionLines) -> int:
    return len(list(_more_of(function)))


def _has_room(options: ConsoleOptions, more: int) -> bool:
    """For so many more columns, and the source beside them."""
    if not options.is_terminal:
        return True
    taken = sum(_LEAST_WIDTHS) + len(_LEAST_WIDTHS) + 1 + more * (_MORE_WIDTH + 1)
    return options.max_width - taken >= _LEAST_SOURCE


class _OperatorsLegend:
    def __init__(self, columns: int) -> None:
        self.columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        legend = OPERATORS_LEGEND if _has_room(options, self.columns) else NO_ROOM_LEGEND
        yield Text(legend, style=FAINT)


class FunctionTable:
    """One function: its total, then every line of its source; lines without hits stay blank."""

    def __init__(
        self, function: FunctionLines, *, unit_s: float | None, name_process: bool, brief: bool
    ) -> None:
        self.function = function
        self.brief = brief
        self.unit_s = unit_s
        self.name_process = name_process
        self.more: list[tuple[str, Callable[[LineRow], str | None]]] = []

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        has_room = _has_room(options, _more_columns(self.function))
        self.more = list(_more_of(self.function)) if has_room else []
        titles = (*TITLES[:2], *(title + self._unit_suffix() for title in TITLES[2:4]), TITLES[4])
        titles += tuple(title for title, _ in self.more)
        least_widths = (*_LEAST_WIDTHS, *(_MORE_WIDTH for _ in self.more))
        rows = list(self._rows())
        widths = [
            max(least, len(title), *(len(cells[column]) for cells, *_ in rows))
            for column, (least, title) in enumerate(zip(least_widths, titles, strict=True))
        ]
        yield self._heading()
        header = Text(_aligned(titles, widths) + "  Line Contents", style=FAINT)
        yield header
        yield Text("=" * len(header), style=FAINT)
        # In a pipe or file the source is never cut; on a terminal it must not wrap.
        overflow: OverflowMethod = "ellipsis" if options.is_terminal else "ignore"
        sources = _highlighted([source for *_, source in rows], wanted=options.is_terminal)
        for (cells, style, _), source in zip(rows, sources, strict=True):
            line = Text(_aligned(cells, widths) + "  ", style, no_wrap=True, overflow=overflow)
            yield line.append_text(source)

    def _heading(self) -> Text:
        function = self.function
        text = heading(function.function)
        text.append(f"  {function.file}:{function.first_line}", style=CODE)
        text.append(f"  {duration(function.total_ns)}", style="bold")
        if function.calls is not None:
            text.append(f"  {counted(function.calls, 'call')}", style=FAINT)
        if self.name_process:
            text.append(f"  {process_name(function.process)}", style=FAINT)
        return text

    def _unit_suffix(self) -> str:
        """Names the unit in the heading if the cells do not have their own."""
        if self.unit_s is None:
            return ""
        for name, unit_ns in TIME_UNITS_NS.items():
            if self.unit_s * 1e9 == unit_ns:
                return f" ({name})"
        return f" ({self.unit_s:g} s)"

    def _rows(self) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """(cells, style, source) of each line to show."""
        hit = {row.line: row for row in self.function.lines}
        blank = ("",) * (len(TITLES) - 1 + len(self.more))
        for number, source in _source_lines(self.function, brief=self.brief):
            if number is None:
                yield ("⋮", *blank), FAINT, source
            elif number in hit:
                row = hit[number]
                yield self._cells(row), _heat(row.ns, self.function.total_ns), source
            else:
                yield (str(number), *blank), FAINT, source

    def _cells(self, row: LineRow) -> tuple[str, ...]:
        mark = "~" if row.estimated else ""
        hits = row.hits if row.likely_hits is None else row.likely_hits
        share = f"{100 * row.ns / self.function.total_ns:.1f}" if self.function.total_ns else ""
        return (
            str(row.line),
            (mark if row.likely_hits is not None else "") + count(hits),
            mark + self._time(row.ns),
            mark + self._time(row.ns / hits) if hits else "",
            share,
            *(cell(row) or "" for _, cell in self.more),
        )

    def _time(self, ns: float) -> str:
        if self.unit_s is None:
            return padded_duration(ns)
        value = ns * 1e-9 / self.unit_s
        return f"{value:,.1f}" if value >= 99.95 else digits(value)


def _source_lines(function: FunctionLines, *, brief: bool) -> Iterator[tuple[int | None, str]]:
    """(number, text) of the lines to show; number None means that lines were left out."""
    if function.function == "<module>":
        yield from _module_lines(function, least_share=_QUIET if brief else 0.0)
        return
    texts = {row.line: row.source or "" for row in function.lines}
    if function.source is not None:
        texts = dict(enumerate(function.source, start=function.first_line)) | {
            number: text for number, text in texts.items() if text
        }
    previous = None
    for number in sorted(texts):
        if previous is not None and number > previous + 1:
            yield None, ""
        yield number, texts[number]
        previous = number


def _module_lines(
    function: FunctionLines, *, least_share: float
) -> Iterator[tuple[int | None, str]]:
    """A module's top level is mostly definitions: only lines that were hit and are slow."""
    slow = [row for row in function.lines if row.ns >= least_share * function.total_ns]
    for row in slow:
        yield row.line, row.source or ""
    quiet = len(function.lines) - len(slow)
    if quiet:
        yield None, f"{counted(quiet, 'more line')} under {percent(least_share)} each"


def _highlighted(sources: list[str], *, wanted: bool) -> list[Text]:
    if not wanted or not sources:
        return [Text(source) for source in sources]
    from rich.syntax import Syntax

    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    coloured = syntax.highlight("\n".join(sources)).split("\n", allow_blank=True)
    plain = [Text(source) for source in sources]
    return [line.copy() for line in coloured][: len(sources)] + plain[len(coloured) :]


def _aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _heat(ns: int, total_ns: int) -> str:
    share = ns / total_ns if total_ns else 0.0
    return next(style for least, style in _HOT if share >= least)
