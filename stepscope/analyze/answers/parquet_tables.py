"""Steps and lines as Parquet, for other tools; derived, so they may be deleted at any time."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.analyze.code.lines import lines
from stepscope.analyze.derived import (
    has_room_for_tables,
    make_tables_folder,
    replace_file,
    tables_folders,
)
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.errors import EnvironmentTrouble
from stepscope.store.reader import Run

if TYPE_CHECKING:
    import polars


def write_tables(run: Run) -> Path:
    """Write steps.parquet and lines.parquet; returns their folder, which is RUN/tables or, if
    RUN cannot be written, one in the user's cache."""
    if not has_room_for_tables():
        raise EnvironmentTrouble(
            f"The tables of '{run.path}' are not written: memory is limited here (ulimit -v). "
            "'stepscope export --to parquet' writes them where it is not."
        )
    tables = {"steps": steps_table(run), "lines": lines_table(run)}
    trouble: OSError | None = None
    for folder in tables_folders(run.path):
        try:
            make_tables_folder(folder)
            for name, table in tables.items():
                replace_file(folder / f"{name}.parquet", table.write_parquet)
        except OSError as error:
            trouble = error
        else:
            return folder
    raise EnvironmentTrouble(
        f"The tables of '{run.path}' cannot be written: {trouble}. Set XDG_CACHE_HOME to a folder "
        "that can be written."
    ) from trouble


def steps_table(run: Run) -> "polars.DataFrame":
    """One row per step and process; one column per phase, in ns."""
    import polars

    frames = []
    for process in run.processes:
        found = find_steps(run, process)
        phases = phases_by_step(process, found)
        columns: dict[str, Any] = {
            "start_ns": found.start_ns - process.start_ns,
            "duration_ns": found.duration_ns,
            "is_measured": found.is_measured,
            "samples": found.samples,
        }
        columns |= {f"{name}_ns": phases.ns[:, index] for index, name in enumerate(phases.names)}
        info = process.info
        who = [
            polars.lit(info.role).alias("role"),
            polars.lit(info.rank, dtype=polars.Int64).alias("rank"),
            polars.lit(info.pid, dtype=polars.Int64).alias("pid"),
        ]
        frames.append(polars.DataFrame(columns).with_row_index("step", offset=1).with_columns(who))
    return polars.concat(frames, how="diagonal") if frames else polars.DataFrame()


def lines_table(run: Run) -> "polars.DataFrame":
    """One row per line that was hit, function and role."""
    import polars

    rows = [
        {
            "file": function.file,
            "function": function.function,
            "first_line": function.first_line,
            "role": function.process.role,
            "rank": function.process.rank,
            "pid": function.process.pid,
            "line": row.line,
            "hits": row.hits,
            "ns": row.ns,
            "estimated": row.estimated,
            "source": row.source,
        }
        for function in lines(run).functions
        for row in function.lines
    ]
    return polars.DataFrame(rows, infer_schema_length=None)
