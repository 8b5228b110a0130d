"""Reads many files at the same time on this machine, each core with a process of its own.

1. Each process is given one file after the other, and hands back what it read.
2. One that dies costs the file that it read, which is said; another one goes on with the rest.
3. Where no such process can be started, the files are read here, one by one.

Processes of ours and not multiprocessing's: that runs the user's script again, unless it was
written for it.
"""

import concurrent.futures
import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final, Protocol, cast

from stepscope.analyze.traces.surveys import Reading, reading, unread
from stepscope.importers.large_arrays import on_disk

_LARGE_BYTES: Final = 8 * 2**20  # in all: below, starting Python costs more than reading
Take = Callable[[int, Reading], None]


class Reader(Protocol):
    """Reads all of these files, and hands each over, with its place, when it is done."""

    def __call__(self, paths: Sequence[Path], take: Take) -> None: ...


def one_by_one(paths: Sequence[Path], take: Take) -> None:
    for number, path in enumerate(paths):
        take(number, reading(path))


def side_by_side(paths: Sequence[Path], take: Take) -> None:
    if len(paths) < 2 or sum(map(_size, paths)) < _LARGE_BYTES or not sys.executable:
        return one_by_one(paths, take)
    by_processes(paths, take, min(len(paths), _cores()))
    return None


def by_processes(paths: Sequence[Path], take: Take, count: int) -> None:
    waiting: queue.SimpleQueue[tuple[int, Path]] = queue.SimpleQueue()
    for each in enumerate(paths):
        waiting.put(each)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(_read_waiting, waiting, take) for _ in range(count)]:
            done.result()


def _read_waiting(waiting: "queue.SimpleQueue[tuple[int, Path]]", take: Take) -> None:
    worker = None
    try:
        while True:
            number, path = waiting.get_nowait()
            worker = worker or _Worker()
            found = worker.read(path)
            if found is None:
                found, worker = _without(path, worker.end()), None
            take(number, found)
    except queue.Empty:
        return
    finally:
        if worker is not None:
            worker.end()


def _without(path: Path, status: int) -> Reading:
    """Of a process that was killed; one that could not work at all is no reason not to read."""
    if status >= 0:
        return reading(path)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    return unread(
        f"'{path}' is left out: the process that read it was ended by {name}, as the system does "
        "when memory runs out. Show this file alone, or on a machine with more memory."
    )


class _Worker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )

    def read(self, path: Path) -> Reading | None:
        """None: it died."""
        asked, answer = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        try:
            pickle.dump(path, asked)
            asked.flush()
            return cast(Reading, pickle.load(answer))
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def end(self) -> int:
        """Its status; it ends when nobody asks it any more."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # it died before it read all
                cast(IO[bytes], pipe).close()
        return self._process.wait()


def _environment() -> dict[str, str]:
    """With our own path: a script may have changed its own."""
    package = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _serve(asked: IO[bytes], answer: IO[bytes]) -> None:
    """What a worker does until its input ends."""
    while True:
        try:
            path = pickle.load(asked)
        except EOFError:
            return
        pickle.dump(reading(path), answer, pickle.HIGHEST_PROTOCOL)
        answer.flush()


if __name__ == "__main__":
    with on_disk():
        _serve(sys.stdin.buffer, sys.stdout.buffer)
