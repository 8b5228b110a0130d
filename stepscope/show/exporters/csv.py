"""A folder of CSV files (RFC 4180), one per table: for spreadsheets and everything else."""

import io
from typing import TYPE_CHECKING, Final

import msgspec
import polars

from stepscope.show.exporters.tables import Files, export_tables

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "pandas.read_csv('{path}/lines.csv')"


def export(run: "Run", *, process: int | None = None) -> Files:
    """All processes, or only the given one."""
    return export_tables(run, process, "csv", encode)


def encode(table: polars.DataFrame) -> bytes:
    """UTF-8; unknown is an empty field, empty text is a quoted empty field, a list is JSON."""
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, polars.List)]
    flat = table.with_columns(_as_json(table[name]) for name in lists)
    file = io.BytesIO()
    flat.write_csv(file, line_terminator="\r\n", quote_style="necessary")
    return file.getvalue()


def _as_json(column: polars.Series) -> polars.Series:
    texts = [
        None if value is None else msgspec.json.encode(value).decode() for value in column.to_list()
    ]
    return polars.Series(column.name, texts, dtype=polars.String)
