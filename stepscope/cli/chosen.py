"""What a path on the command line means: a folder may hold many runs or traces."""

from pathlib import Path

from stepscope.cli.words import say


def chosen(path: str | Path) -> Path:
    """The newest run or trace below a folder that is neither; says which one that is."""
    from stepscope.analyze.traces.foreign import choose

    choice = choose(Path(path))
    if choice.words is not None:
        say(choice.words)
    return choice.path
