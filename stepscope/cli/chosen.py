"""What a path on the command line means: a folder may hold many runs or traces, of any size."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli.words import say
from stepscope.errors import InputError

if TYPE_CHECKING:
    from stepscope.store.reader import Run


def chosen(path: str | Path) -> Path:
    """The newest run or trace below a folder that is neither; says which one that is."""
    from stepscope.analyze.traces.foreign import choose

    if not os.fspath(path):  # else it is this folder: "$RUN" of a variable that is not set
        raise InputError("The name of the run is empty. Give a run folder, or leave the name out.")
    choice = choose(Path(path))
    if choice.words is not None:
        say(choice.words)
    return choice.path


def require_another_file(output: str, *runs: "Run") -> None:
    """What is written must not be what it is made of."""
    read = (each.trace for run in runs for each in run.processes if each.trace is not None)
    if any(os.path.exists(output) and os.path.samefile(output, file) for file in read):
        raise InputError(f"'{output}' is the trace itself: name another file.")


def bound_memory() -> None:
    """Until the command ends, however large the traces are that it reads."""
    from stepscope.importers.large_arrays import on_disk

    click.get_current_context().with_resource(on_disk())
