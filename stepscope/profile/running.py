"""Profiling one statement and showing the result: `run` and `runctx` as in cProfile."""

from collections.abc import Mapping
from types import CodeType
from typing import Any

from stepscope.profile.profiler import Profile, Sort


def run(statement: str | CodeType, filename: str | None = None, sort: Sort = -1) -> None:
    """Profile a statement in the main module; print the table, or write the file."""
    import __main__

    runctx(statement, __main__.__dict__, __main__.__dict__, filename, sort)


def runctx(
    statement: str | CodeType,
    globals: dict[str, Any],
    locals: Mapping[str, Any] | None,
    filename: str | None = None,
    sort: Sort = -1,
) -> None:
    """The same in these namespaces. Leaving by sys.exit() is a normal end."""
    profile = Profile()
    try:
        profile.runctx(statement, globals, locals)
    except SystemExit:
        pass
    finally:
        if filename is None:
            profile.print_stats(sort)
        else:
            profile.dump_stats(filename)
