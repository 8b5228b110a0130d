"""line_profiler's text: one table per function, with its columns, widths and wording."""

import dataclasses
import functools
import inspect
import linecache
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from stepscope.line_profiler.settings import Config, column_widths

Key = tuple[str, int, str]
Row = tuple[int, int, int]

TITLES: Final = ("Line #", "Hits", "Time", "Per Hit", "% Time")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Layout:
    """The options of `print_stats`."""

    output_unit: float | None = None  # seconds; by default the unit of the timings
    stripzeros: bool = False  # leave functions out that never ran
    details: bool = True  # the table of each function
    summarize: bool = False  # then one line per function
    sort: bool = False  # shortest first, so that the longest stands last
    rich: bool = False  # colours, where rich is installed
    config: Config = None  # line_profiler's settings file

    @functools.cached_property
    def widths(self) -> tuple[int, ...]:
        return column_widths(self.config)


def show_text(
    timings: Mapping[Key, Sequence[Row]], unit: float, layout: Layout, stream: TextIO | None = None
) -> None:
    out = sys.stdout if stream is None else stream
    out.write(f"Timer unit: {layout.output_unit or unit:g} s\n\n")
    order = list(timings.items())
    if layout.sort:
        order.sort(key=lambda item: _total(item[1]))
    if layout.details:
        for key, rows in order:
            show_function(key, rows, unit, layout, out)
    if layout.summarize:
        for key, rows in order:
            _write_total(key, _total(rows) * unit, layout, out)


def show_function(key: Key, rows: Sequence[Row], unit: float, layout: Layout, out: TextIO) -> None:
    """Total, place, and each source line with its time."""
    file, first_line, name = key
    if layout.stripzeros and not any(hits for _, hits, _ in rows):
        return
    out.write(f"Total time: {_total(rows) * unit:g} s\n")
    source = _source(file, first_line, rows)
    if source is None:
        out.write(
            f"\nCould not find file {file}\n"
            "Are you sure you are running this program from the same directory\n"
            "that you ran the profiler from?\n"
            "Continuing without the function's contents.\n"
        )
        last = max((line for line, _, _ in rows), default=first_line)
        source = [""] * (last - min([first_line, *(line for line, _, _ in rows)]) + 1)
    else:
        out.write(f"File: {file}\nFunction: {name} at line {first_line}\n")
    _write_table(first_line, source, _cells(rows, unit, layout), layout, out)


def _write_table(
    first_line: int,
    source: Sequence[str],
    cells: Mapping[int, tuple[str, ...]],
    layout: Layout,
    out: TextIO,
) -> None:
    widths = [
        max([least, *(len(row[column - 1]) for row in cells.values())]) if 0 < column < 4 else least
        for column, least in enumerate(layout.widths)
    ]
    header = f"{_aligned(TITLES, widths)}  Line Contents"
    out.write(f"\n{header}\n{'=' * len(header)}\n")
    numbers = [
        _aligned((str(line), *cells.get(line, ("", "", "", ""))), widths)
        for line in range(first_line, first_line + len(source))
    ]
    texts = [text.rstrip("\r\n") for text in source]
    if not (layout.rich and _write_coloured(numbers, texts, out)):
        for left, right in zip(numbers, texts, strict=True):
            _write_line(f"{left}  {right}", out)
    out.write("\n")


def _cells(rows: Sequence[Row], unit: float, layout: Layout) -> dict[int, tuple[str, ...]]:
    """Hits, time, time per hit and percent of each line that was hit."""
    scale, total = unit / (layout.output_unit or unit), _total(rows)
    _, hits_width, time_width, per_hit_width, _ = layout.widths
    return {
        line: (
            _fitting(f"{hits:d}", f"{hits:g}", hits_width),
            _number(time * scale, time_width),
            _number(time * scale / hits, per_hit_width) if hits else "",
            f"{100 * time / total:5.1f}" if total else "",
        )
        for line, hits, time in rows
    }


def _number(value: float, width: int) -> str:
    return _fitting(f"{value:5.1f}", f"{value:5.3g}", width)


def _fitting(full: str, short: str, width: int) -> str:
    return full if len(full) <= width else short


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _source(file: str, first_line: int, rows: Sequence[Row]) -> list[str] | None:
    """The block that starts at that line; None when the file cannot be found."""
    if os.path.exists(file):
        linecache.checkcache(file)
    elif not _is_notebook_cell(file):
        return None
    return inspect.getblock(linecache.getlines(file)[first_line - 1 :])


def _is_notebook_cell(file: str) -> bool:
    temporary = os.path.join(tempfile.gettempdir(), "")
    kernels = (temporary + "ipykernel_", temporary + "xpython_")
    return file.startswith(("<generated", "<ipython-input-", *kernels))


def _write_total(key: Key, total_s: float, layout: Layout, out: TextIO) -> None:
    if layout.stripzeros and not total_s:
        return
    file, first_line, name = key
    _write_line(f"{total_s:6.2f} seconds - {file}:{first_line} - {name}", out)


def _write_line(line: str, out: TextIO) -> None:
    """A stream that cannot encode the source gets it with escapes."""
    try:
        out.write(line)
    except UnicodeEncodeError:
        encoding = getattr(out, "encoding", None) or "ascii"
        out.write(line.encode(encoding, errors="backslashreplace").decode(encoding))
    out.write("\n")


def _write_coloured(numbers: Sequence[str], texts: Sequence[str], out: TextIO) -> bool:
    """False where rich is not installed."""
    try:
        from rich.console import Console
        from rich.syntax import Syntax
        from rich.text import Text
    except ImportError:
        return False
    console = Console(file=out, soft_wrap=True, color_system="standard", highlight=False)
    syntax = Syntax("", "python", background_color="default")
    coloured = syntax.highlight("\n".join(texts)).split("\n", allow_blank=True)
    for left, right, plain in zip(numbers, coloured, texts, strict=False):
        console.print(Text(f"{left}  ").append_text(right if plain else Text()))
    return True


def _total(rows: Sequence[Row]) -> int:
    return sum(time for _, _, time in rows)
