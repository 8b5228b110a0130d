"""`stepscope export`: a run as a file that another tool reads."""

import importlib
import os
from typing import Final

import click

from stepscope.errors import EnvironmentTrouble

FORMATS: Final = ("lprof", "pstats", "collapsed", "speedscope")


@click.command("export", short_help="Write a run as a file for another tool.")
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--to", "file_format", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option("-o", "--output", metavar="FILE", help="Where to; by default the run's name here.")
@click.option("--process", type=int, metavar="PID", help="This process; by default the main one.")
def command(run: str | None, file_format: str, output: str | None, process: int | None) -> None:
    """Write RUN (by default the newest in ./stepscope-runs) as a file that another tool reads.

    \b
    lprof       lines, for 'python -m line_profiler FILE'
    pstats      calls, for 'python -m pstats FILE' and snakeviz
    collapsed   sampled stacks, for flamegraph.pl
    speedscope  sampled stacks over time, for https://www.speedscope.app
    """
    from stepscope.analyze.run import load, newest_run

    folder = os.fspath(run if run is not None else newest_run())
    exporter = importlib.import_module(f"stepscope.show.exporters.{file_format}")
    content: bytes = exporter.export(load(folder), process=process)
    name = os.path.basename(os.path.abspath(folder))
    path = output or f"{name}.{getattr(exporter, 'SUFFIX', file_format)}"
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise EnvironmentTrouble(
            f"Cannot write '{path}': {error.strerror}. Name another file with -o."
        ) from error
    click.echo(f"Wrote {path}. Open it with: {exporter.OPEN_WITH.format(path=path)}", err=True)
