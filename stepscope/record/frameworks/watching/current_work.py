"""What TensorFlow is doing right now: state shared by its watchers and those of Keras.

Hooks are also called while a function is traced into a graph. Nothing is computed then: they only
remember what the function contains.
"""

import threading
from collections.abc import Callable
from typing import Any, Final


class Parts:
    """What a traced function does."""

    __slots__ = ("calls_model", "trains")

    def __init__(self) -> None:
        self.trains = False  # it computes gradients or applies them
        self.calls_model = False

    def add(self, other: "Parts") -> None:
        self.trains |= other.trains
        self.calls_model |= other.calls_model


class Here(threading.local):
    """What is happening on this thread."""

    tape: Any = None  # the outermost one that is open
    samples = 0  # in the first batch that a model got under it
    in_model = False
    in_optimizer = False
    has_fitted = False  # a batch of Keras was trained on
    in_batch = False  # of a framework that reports its steps itself
    in_one_span = False  # what runs is recorded as one span
    in_collective = False
    in_input = False
    call: Any = None  # the called function, outside all graphs
    tracing: Parts | None = None  # the innermost function that is being traced


here: Final = Here()
# The innermost one of all threads: a strategy runs its replicas on others, and waits for them.
latest_tracing: Parts | None = None


def found_in_graph(*, trains: bool = False, calls_model: bool = False) -> None:
    """The function being traced contains these."""
    parts = here.tracing or latest_tracing
    if parts is not None:
        parts.trains |= trains
        parts.calls_model |= calls_model


def _always() -> bool:
    return True


# Whether operations run at once instead of going into a graph. Set when TensorFlow is loaded.
is_eager: Callable[[], bool] = _always
# Called when something was trained. None: no listener.
on_work: Callable[[], None] | None = None
# Called when TensorFlow is about to compute something.
on_begin: Callable[[], None] | None = None
# Called when a function is traced.
on_trace: Callable[[], None] | None = None


def begins() -> None:
    if on_begin is not None:
        on_begin()


def worked() -> None:
    if on_work is not None:
        on_work()
