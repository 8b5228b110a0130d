"""`%stepline`'s tables: line_profiler's, and the lines of the cell itself in the same columns."""

import io
import linecache
from typing import Final, TextIO

from stepscope.line_profiler import text
from stepscope.line_profiler.stats import Key, LineStats, Row

_MODULE: Final = "<module>"


def tables(stats: LineStats, *, unit_s: float | None, stripzeros: bool) -> str:
    """The functions first, the cell below them."""
    layout = text.Layout(output_unit=unit_s, stripzeros=stripzeros)
    cells = {key: rows for key, rows in stats.timings.items() if key[2] == _MODULE}
    functions = {key: rows for key, rows in stats.timings.items() if key not in cells}
    out = io.StringIO()
    text.show_text(functions, stats.unit, layout, out)
    for key, rows in cells.items():
        _write_cell(key, rows, stats.unit, layout, out)
    return out.getvalue()


def _write_cell(key: Key, rows: list[Row], unit: float, layout: text.Layout, out: TextIO) -> None:
    """The whole cell: indentation shows where a function ends, but not where a cell does."""
    file, first_line, _ = key
    total = sum(time for _, _, time in rows)
    out.write(f"Total time: {total * unit:g} s\nThe cell itself\n")
    source = linecache.getlines(file)[first_line - 1 :]
    text._write_table(first_line, source, text._cells(rows, unit, layout), layout, out)
