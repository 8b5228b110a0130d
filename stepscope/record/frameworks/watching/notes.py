"""Trouble with a framework, as a note in the run: the training goes on."""

from collections.abc import Callable
from typing import Any

_note: Callable[[str], object] = print


def tell(note: Callable[[str], object]) -> None:
    """`note`: where the recording that begins wants it."""
    global _note
    _note = note


def note(text: str) -> None:
    _note(text)


def guard(trouble: str) -> Callable[..., Any]:
    """A function that calls what it is given. What fails there is noted as `trouble`, and None
    comes back: it never reaches the training."""

    def guarded(action: Callable[..., Any], *args: Any) -> Any:
        try:
            return action(*args)
        except Exception as error:
            note(f"{trouble}: {error!r}.")
            return None

    return guarded
