"""The operators view: torch's own columns, and the line that called each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model.ops import OpRow, OpsAnswer, OpsWindow
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    count,
    counted,
    digits,
    duration,
    padded_duration,
    padded_size,
    times,
)
from stepscope.show.terminal.drawing.page import (
    FAINT,
    heading,
    indented,
    more,
    notes_block,
    page,
    place,
)
from stepscope.show.terminal.drawing.paths import short_paths
from stepscope.show.terminal.drawing.wide import Column, WideTable

_FLOPS_UNITS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"))
_LONGEST: Final = 40  # longest name or shape on a terminal, in characters


def ops(answer: OpsAnswer, *, top: int | None = None) -> RenderableType:
    """All operators, or the first `top`."""
    shown = answer.ops[:top] if top else answer.ops
    parts: list[RenderableType] = [heading("Operators", windows_words(answer.windows))]
    if not shown:
        return page([*parts, indented(Text("None.")), *notes_block(answer.notes)])
    whole_ns = max(1, answer.self_cpu_ns)
    parts.append(_table(shown, whole_ns))
    own = f"Self CPU time total: {duration(whole_ns)}"
    if answer.self_device_ns:
        own += f" · self device time total: {duration(answer.self_device_ns)}"
    parts += [Text("  " + own, style=FAINT), *more(len(answer.ops), len(shown), "operator")]
    return Group(*parts, page(notes_block(answer.notes)))


def windows_words(windows: Sequence[OpsWindow]) -> str:
    """`3 steps in 1 window · 1.2 times as slow as the others`."""
    if not windows:
        return ""
    steps = sum(window.steps or 0 for window in windows)
    words = [f"{counted(steps, 'step')} in {counted(len(windows), 'window')}"] if steps else []
    if any(window.of_script and window.start_ns is not None for window in windows):
        words.append("recorded by the script's own profiler")
    slowdowns = [window.slowdown for window in windows if window.slowdown is not None]
    if slowdowns:
        words.append(f"steps there take {times(max(slowdowns))} as long as others")
    return " · ".join(words)


def _table(rows: Sequence[OpRow], whole_ns: int) -> WideTable:
    files = short_paths(place.file for row in rows for place in row.locations)
    specs = [spec for spec in _specs(whole_ns, files) if spec.says_something(rows)]
    return WideTable(
        [
            Column(
                spec.title, [spec.cell(row) for row in rows], spec.weight, spec.is_left, _LONGEST
            )
            for spec in specs
        ]
    )


class _Spec(NamedTuple):
    title: str
    weight: int
    cell: Callable[[OpRow], str]
    needs: Callable[[OpRow], object] | None = None  # shown if any row has it
    is_left: bool = False

    def says_something(self, rows: Sequence[OpRow]) -> bool:
        return self.needs is None or any(self.needs(row) for row in rows)


def _specs(whole_ns: int, files: Mapping[str, str]) -> list[_Spec]:
    """torch's columns in torch's order, then the line."""
    return [
        _Spec("Name", 100, lambda row: row.name, is_left=True),
        _Spec("Self CPU %", 90, lambda row: f"{100 * row.self_cpu_ns / whole_ns:.2f}%"),
        _Spec("Self CPU", 95, lambda row: padded_duration(row.self_cpu_ns)),
        _Spec("CPU total %", 20, lambda row: f"{100 * row.total_cpu_ns / whole_ns:.2f}%"),
        _Spec("CPU total", 60, lambda row: padded_duration(row.total_cpu_ns)),
        _Spec("CPU time avg", 30, lambda row: padded_duration(row.total_cpu_ns / row.calls)),
        _Spec("Self device", 92, lambda row: padded_duration(row.self_device_ns),
              lambda row: row.self_device_ns is not None),
        _Spec("Device total", 55, lambda row: padded_duration(row.total_device_ns),
              lambda row: row.total_device_ns is not None),
        _Spec("CPU Mem", 40, lambda row: padded_size(row.total_cpu_bytes),
              lambda row: row.total_cpu_bytes),
        _Spec("Self CPU Mem", 25, lambda row: padded_size(row.self_cpu_bytes),
              lambda row: row.self_cpu_bytes),
        _Spec("Self device Mem", 24, lambda row: padded_size(row.self_device_bytes),
              lambda row: row.self_device_bytes),
        _Spec("# of Calls", 80, lambda row: count(row.calls)),
        _Spec("FLOPs", 22, lambda row: _flops(row.flops), lambda row: row.flops),
        _Spec("Input Shapes", 99, _shapes, lambda row: row.input_shapes is not None, is_left=True),
        _Spec("where", 85, lambda row: _where(row, files), lambda row: row.locations, is_left=True),
    ]  # fmt: skip


def _where(row: OpRow, files: Mapping[str, str]) -> str:
    others = len(row.locations) - 1
    return place(row.location, files) + (f" +{others}" if others > 0 else "")


def _shapes(row: OpRow) -> str:
    return str(row.input_shapes) if row.input_shapes else "[]"


def _flops(number: int | None) -> str:
    if not number:
        return NOTHING
    for factor, unit in _FLOPS_UNITS:
        if number >= factor:
            return f"{digits(number / factor)} {unit}"
    return str(number)
