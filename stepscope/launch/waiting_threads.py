"""How long threads of the run were ready but had no core, as the system counts it."""

import os
from collections.abc import Iterator
from typing import Final

_MOST_THREADS: Final = 1_000  # some 10 ms of reading; with more, one look costs too much


def waited_ns(pid: int, proc: str = "/proc") -> dict[str, int]:
    """By process, of this one and those below it: all threads that live, together. None of those
    of which the system does not say it."""
    found: dict[str, int] = {}
    left = _MOST_THREADS
    for process in _family(pid, proc):
        threads = _listed(f"{proc}/{process}/task")
        left -= len(threads)
        waits = [_wait_ns(f"{proc}/{process}/task/{each}/schedstat") for each in threads]
        known = [each for each in waits if each is not None]
        if left < 0:
            break
        if known:
            found[str(process)] = sum(known)
    return found


def _family(pid: int, proc: str) -> Iterator[int]:
    todo = [pid]
    while todo:
        process = todo.pop(0)
        yield process
        for thread in _listed(f"{proc}/{process}/task"):
            text = _text(f"{proc}/{process}/task/{thread}/children")
            todo += [int(each) for each in text.split() if each.isdigit()]


def _wait_ns(path: str) -> int | None:
    fields = _text(path).split()
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else None


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:  # it has ended
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
