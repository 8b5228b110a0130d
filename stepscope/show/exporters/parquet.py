"""A folder of Parquet files, one per table: for pandas, polars, DuckDB, Spark."""

import io
from typing import TYPE_CHECKING, Final

import polars

from stepscope.show.exporters.tables import Files, export_tables

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "polars.read_parquet('{path}/lines.parquet')"


def export(run: "Run", *, process: int | None = None) -> Files:
    """All processes, or only the given one."""
    return export_tables(run, process, "parquet", encode)


def encode(table: polars.DataFrame) -> bytes:
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getvalue()
