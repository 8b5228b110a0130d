"""`stepscope export`: a run as a file, or a folder of tables, that another tool reads."""

import importlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, cast

import click

from stepscope.cli.chosen import bound_memory, chosen, require_another_file
from stepscope.cli.completion import paths
from stepscope.cli.words import say
from stepscope.errors import EnvironmentTrouble, InputError

if TYPE_CHECKING:
    from stepscope.show.exporters.tables import Files

    _Content = bytes | Iterator[bytes] | Files

FORMATS: Final = (
    "html", "lprof", "pstats", "collapsed", "speedscope", "chrome", "tensorboard", "csv", "parquet",
)  # fmt: skip
_FOLDERS: Final = ("tensorboard", "csv", "parquet")


@click.command("export", short_help="Write a run as files for another tool.")
@click.argument("run", required=False, metavar="[RUN]", shell_complete=paths)
@click.option("--to", "file_format", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option("-o", "--output", metavar="PATH", help="Where to; by default the run's name, here.")
@click.option(
    "--process",
    type=int,
    metavar="PID",
    help="This process; by default the main one, or all (html, chrome, tensorboard, tables).",
)
@click.option("--no-source", is_flag=True, help="html: leave your source code out.")
def command(
    run: str | None, file_format: str, output: str | None, process: int | None, no_source: bool
) -> None:
    """Write RUN (by default the newest in ./stepscope-runs) as a file that another tool reads.

    \b
    html        the report: one file for any browser
    lprof       lines, for 'python -m line_profiler FILE'
    pstats      calls, for 'python -m pstats FILE' and snakeviz
    collapsed   sampled stacks, for flamegraph.pl
    speedscope  sampled stacks over time, for https://www.speedscope.app
    chrome      everything over time, for https://ui.perfetto.dev and chrome://tracing
    tensorboard operators, for TensorBoard with torch_tb_profiler or xprof
    csv         a folder with one table per question, for pandas and spreadsheets
    parquet     the same for pandas, polars, DuckDB

    \b
    Examples:
      stepscope export --to html -o report.html  the newest run, as one file to send
      stepscope export before --to chrome        for Perfetto
      stepscope export before --to csv -o tables/
    """
    from stepscope.analyze.run import newest_run
    from stepscope.analyze.traces.foreign import load_any

    folder = os.fspath(chosen(run) if run is not None else newest_run())
    exporter = importlib.import_module(f"stepscope.show.exporters.{file_format}")
    how = _how(file_format, no_source)
    bound_memory()
    opened = load_any(folder)
    if output is not None:
        require_another_file(output, opened)
    content: _Content = exporter.export(opened, process=process, **how)
    name = os.path.basename(os.path.abspath(folder))
    if file_format in _FOLDERS:
        path = output or f"{name}-{file_format}"
    else:
        path = output or f"{name}.{getattr(exporter, 'SUFFIX', file_format)}"
    _write(path, content, is_folder=file_format in _FOLDERS)
    say(f"Wrote {path}. Open it with: {exporter.OPEN_WITH.format(path=path)}", prefix="")


def _how(file_format: str, no_source: bool) -> dict[str, bool]:
    if no_source and file_format != "html":
        raise InputError(f"--no-source belongs to '--to html', not '--to {file_format}'.")
    return {"with_source": False} if no_source else {}


def _write(path: str, content: "_Content", *, is_folder: bool) -> None:
    if is_folder:
        from stepscope.show.exporters.folder import write_folder

        write_folder(path, cast("Files", content))
    else:
        pieces = [content] if isinstance(content, bytes) else cast("Iterator[bytes]", content)
        _write_file(path, pieces)


def _write_file(path: str, pieces: Iterable[bytes]) -> None:
    try:
        with open(path, "wb") as file:
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        raise EnvironmentTrouble(
            f"Cannot write '{path}': {error.strerror}. Name another file with -o."
        ) from error
