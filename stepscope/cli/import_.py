"""`stepscope import`: files of other tools as a run folder."""

import os
from pathlib import Path

import click

from stepscope.cli.chosen import bound_memory, chosen
from stepscope.cli.engine import chosen_reader, engine_options
from stepscope.cli.words import say
from stepscope.errors import InputError


@click.command("import", short_help="Make a run folder of traces that other tools wrote.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("-o", "--output", metavar="RUN", help="The run folder. [stepscope-runs/NAME-TIME]")
@click.option("--force", is_flag=True, help="Replace the run that -o names.")
@engine_options
def command(
    traces: tuple[str, ...],
    output: str | None,
    force: bool,
    engine: str | None,
    scheduler: str | None,
) -> None:
    """Make a run folder of TRACE: a file that another profiler wrote, or a folder with one file a
    rank. Several become one run, and their clocks one clock.

    Every verb also takes the files themselves; a run folder keeps them together.

    \b
    Examples:
      stepscope import trace.json.gz                     a trace that torch.profiler wrote
      stepscope import rank*.json.gz -o runs/ddp         all ranks of a training as one run
      stepscope import logs/plugins/profile -o runs/tf   what TensorFlow or JAX wrote
    """
    from stepscope.analyze.traces.kept_traces import keep_traces
    from stepscope.launch.run_folder import chosen_folder, new_folder

    files = list(dict.fromkeys(file for trace in traces for file in _files(trace)))

    def make() -> str:
        if output is None:
            return new_folder(Path(files[0]).name.partition(".")[0])
        return chosen_folder(output, force=force)

    if output is not None and force:
        _require_outside(output, files)
    bound_memory()
    folder = os.path.relpath(keep_traces(files, make, chosen_reader(engine, scheduler)))
    what = f"{len(files)} files" if len(files) > 1 else f"'{files[0]}'"
    say(f"Wrote {what} to {folder}. Show it with: stepscope show {folder}", prefix="")


def _require_outside(output: str, files: list[Path]) -> None:
    """What is to be kept must not be what makes room for it."""
    folder = Path(output).resolve()
    inside = next((file for file in files if folder in file.resolve().parents), None)
    if inside is not None:
        raise InputError(f"'{inside}' lies in '{output}': give -o another folder.")


def _files(trace: str) -> list[Path]:
    from stepscope.analyze.traces.foreign import traces_in

    path = chosen(trace)
    if not path.exists():
        raise InputError(f"'{trace}' does not exist.")
    found = traces_in(path)
    if not found:
        raise InputError(f"'{trace}' is a run already: 'stepscope show {path}' shows it.")
    return found
