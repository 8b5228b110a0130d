"""One operator window per process, for any framework: two profilers need the same device.

An open window holds the slot. Before a fork it is closed: the child would go on recording, and
nothing would end it.
"""

import os
from typing import Protocol


class Holder(Protocol):
    def end_window(self) -> None: ...


# TensorFlow or JAX has trained: a step without an owner is theirs rather than torch's.
others_have_worked = False

_holder: Holder | None = None
_watches_forks = False


def is_free() -> bool:
    return _holder is None


def take(holder: Holder) -> None:
    global _holder, _watches_forks
    _holder = holder
    if not _watches_forks:  # such handlers cannot be removed
        _watches_forks = True
        os.register_at_fork(before=_before_fork)


def give_back(holder: Holder) -> None:
    global _holder
    if _holder is holder:
        _holder = None


def _before_fork() -> None:
    if _holder is not None:
        _holder.end_window()
