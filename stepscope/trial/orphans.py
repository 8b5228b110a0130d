"""Processes that a run left behind, whatever they did to get away from it.

A process that leaves its group and its session, and forgets its environment, can be found by one
thing only: when its parent has ended, the system gives it to the nearest ancestor that asks for
such orphans. On Linux that is us; elsewhere nothing is found here.
"""

import contextlib
import ctypes
import os
import signal
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_MOST_TURNS: Final = 100  # the children of an orphan become orphans when it ends

_own: set[int] | None = None  # children that were there before; None: orphans are not ours


def adopt() -> None:
    """From now on, orphans among our descendants become our children."""
    global _own
    with contextlib.suppress(AttributeError, OSError):
        if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
            _own = set(_children())


def end() -> None:
    """All children that have come since `adopt`. To be called when none of them is wanted."""
    if _own is None:
        return
    for _ in range(_MOST_TURNS):
        found = [child for child in _children() if child not in _own]
        if not found:
            return
        for child in found:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _children() -> list[int]:
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # Behind the name, which may hold anything: its state, its parent.
            if int(file.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(file.parent.name))
    return found
