"""Parquet of a recorded run: the same tables as CSV, with their types."""

from pathlib import Path

import polars
import pytest

from show.exporters.recorded import STEPS, python, stepscope
from stepscope.show.exporters.tables import TABLES


@pytest.fixture(scope="module")
def exported(recorded: Path) -> Path:
    stepscope("export", "run", "--to", "parquet", folder=recorded)
    return recorded / "run-parquet"


def test_there_is_one_file_a_table(exported: Path) -> None:
    files = {path.name for path in exported.iterdir()}
    assert files == {f"{name}.parquet" for name in TABLES} | {"export.json"}


def test_numbers_can_be_computed_with(exported: Path) -> None:
    steps = polars.read_parquet(exported / "steps.parquet")
    phases = [name for name in steps.columns if name.endswith("_ns")]
    phases = [name for name in phases if name not in ("start_ns", "duration_ns")]
    assert len(steps) == STEPS
    assert (
        steps.select(polars.sum_horizontal(phases))
        .to_series()
        .equals(steps["duration_ns"], null_equal=False)
    )
    functions = polars.read_parquet(exported / "functions.parquet")
    (square,) = functions.filter(polars.col("function") == "square").rows(named=True)
    assert (square["ncalls"], square["estimated"]) == (600, False)
    callers = polars.read_parquet(exported / "callers.parquet")
    by = callers.filter(polars.col("function") == "square")
    assert by["ncalls"].sum() == 600


def test_lists_stay_lists(exported: Path) -> None:
    processes = polars.read_parquet(exported / "processes.parquet")
    assert [argv[-1] for argv in processes["argv"].to_list()] == ["small_training.py"]


def test_the_command_it_names_opens_it(recorded: Path) -> None:
    said = stepscope("export", "run", "--to", "parquet", "-o", "again", folder=recorded)
    expression = said.partition("Open it with: ")[2].strip()
    page = python("-c", f"import polars; print({expression}.columns)", folder=recorded).stdout
    assert "'hits'" in page


def test_the_same_run_gives_the_same_bytes(recorded: Path, exported: Path) -> None:
    stepscope("export", "run", "--to", "parquet", "-o", "once-more", folder=recorded)
    first = {path.name: path.read_bytes() for path in exported.iterdir()}
    assert {path.name: path.read_bytes() for path in (recorded / "once-more").iterdir()} == first
