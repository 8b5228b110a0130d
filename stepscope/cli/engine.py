"""The options that say who reads the files of many ranks."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from stepscope.errors import InputError

if TYPE_CHECKING:
    from stepscope.analyze.traces.side_by_side import Reader

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PROCESSES: Final = "processes"
_DASK: Final = "dask"


def engine_options(command: _Command) -> _Command:
    scheduler = click.option(
        "--scheduler", metavar="ADDRESS", help="With dask: of this scheduler. [this machine alone]"
    )
    engine = click.option(
        "--engine",
        type=click.Choice((_PROCESSES, _DASK)),
        help="Who reads traces of many ranks: processes of this machine, or dask's workers.",
    )
    return engine(scheduler(command))


def chosen_reader(engine: str | None, scheduler: str | None) -> "Reader":
    if scheduler is not None and engine == _PROCESSES:
        raise InputError("--scheduler is that of --engine dask. Leave one of the two out.")
    if scheduler is not None or engine == _DASK:
        from stepscope.analyze.traces.on_dask import dask_reader

        return dask_reader(scheduler)
    from stepscope.analyze.traces.side_by_side import side_by_side

    return side_by_side
