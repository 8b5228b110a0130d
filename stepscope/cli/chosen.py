"""What a path on the command line means: a folder may hold many runs or traces, of any size."""

from pathlib import Path

import click

from stepscope.cli.words import say


def chosen(path: str | Path) -> Path:
    """The newest run or trace below a folder that is neither; says which one that is."""
    from stepscope.analyze.traces.foreign import choose

    choice = choose(Path(path))
    if choice.words is not None:
        say(choice.words)
    return choice.path


def bound_memory() -> None:
    """Until the command ends, however large the traces are that it reads."""
    from stepscope.importers.large_arrays import on_disk

    click.get_current_context().with_resource(on_disk())
