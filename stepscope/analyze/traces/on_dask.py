"""Reads many files on the workers of dask.distributed: those of a scheduler, or of this machine.

What reads a file there is what reads it here, and so are the results.
"""

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from stepscope.analyze.traces.side_by_side import Reader, Take
from stepscope.analyze.traces.surveys import Reading, reading, unread
from stepscope.errors import EnvironmentTrouble, StepscopeError

_ANSWERS_S: Final = 10  # a scheduler answers at once, or is not there
_MISSING: Final = (
    "dask.distributed is not installed for this Python: pip install 'stepscope[dask]'. Without "
    "--engine dask, the files are read by several processes of this machine."
)
_NOBODY: Final = (
    "No dask scheduler answers at '{address}' ({cause}). Start one with 'dask scheduler', and "
    "workers with 'dask worker {address}'; without --scheduler, workers of this machine are used."
)
_NO_WORKER: Final = (
    "The dask scheduler at '{address}' has no worker. Start one with 'dask worker {address}', with "
    "a Python that has stepscope."
)
_DIED: Final = (
    "'{path}' is left out: the dask worker that read it died, as it does when its memory runs out. "
    "Give the workers more memory, or show this file alone."
)
_LOST: Final = (
    "The dask scheduler at '{address}' went away while it read the files. Start it again, or leave "
    "out --engine dask."
)
_FAILED: Final = (
    "The dask workers cannot read '{path}' ({cause}). They need the same version of stepscope and "
    "of Python as this command."
)


def dask_reader(address: str | None) -> Reader:
    """Of the scheduler at this address; None: of this machine, for as long as it takes."""
    distributed = _distributed()

    def read(paths: Sequence[Path], take: Take) -> None:
        with _client(distributed, address) as client:
            _read(distributed, client, paths, take)

    return read


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise EnvironmentTrouble(_MISSING) from error
    return distributed


@contextlib.contextmanager
def _client(distributed: Any, address: str | None) -> Iterator[Any]:
    with contextlib.ExitStack() as stack:
        if address is None:
            client = stack.enter_context(
                distributed.Client(stack.enter_context(_here(distributed)))
            )
        else:
            client = stack.enter_context(_connected(distributed, address))
            _require_worker(client, address)
        yield client


@contextlib.contextmanager
def _here(distributed: Any) -> Iterator[Any]:
    """A file whose worker died is not tried again beside others: it would take them with it."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_ANSWERS_S)
    except (OSError, TimeoutError, ValueError) as error:
        cause = str(error).partition("\n")[0] or type(error).__name__
        raise EnvironmentTrouble(_NOBODY.format(address=address, cause=cause)) from error


def _require_worker(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_ANSWERS_S)
    except TimeoutError as error:
        raise EnvironmentTrouble(_NO_WORKER.format(address=address)) from error


def _read(distributed: Any, client: Any, paths: Sequence[Path], take: Take) -> None:
    """As they are done; what was handed over is forgotten there. A worker that dies takes the files
    that wait for it along: they are read once more, one by one, to see which of them it was."""
    asked = {_submitted(client, path): number for number, path in enumerate(paths)}
    lost = []
    for future in distributed.as_completed(list(asked)):
        number = asked.pop(future)
        found = _result(distributed, client, future, paths[number])
        if found is None:
            lost.append(number)
        else:
            take(number, found)
    for number in sorted(lost):
        path = paths[number]
        found = _result(distributed, client, _submitted(client, path), path)
        take(number, found or unread(_DIED.format(path=path)))


def _submitted(client: Any, path: Path) -> Any:
    return client.submit(reading, path.absolute(), pure=False)


def _result(distributed: Any, client: Any, future: Any, path: Path) -> Reading | None:
    """None: its worker died."""
    try:
        found: Reading = future.result()
    except distributed.KilledWorker:
        return None
    except StepscopeError:
        raise
    except (OSError, TimeoutError, distributed.CancelledError) as error:
        raise EnvironmentTrouble(_LOST.format(address=client.scheduler.address)) from error
    except Exception as error:
        raise EnvironmentTrouble(_FAILED.format(path=path, cause=error)) from error
    return found
