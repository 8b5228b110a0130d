"""Problems with a framework, as notes in the run: the training continues."""

from collections.abc import Callable
from typing import Any

_note: Callable[[str], object] = print


def tell(note: Callable[[str], object]) -> None:
    """`note`: the function of the new recording that takes notes."""
    global _note
    _note = note


def note(text: str) -> None:
    _note(text)


def guard(trouble: str) -> Callable[..., Any]:
    """A function that calls its argument. An exception there is noted as `trouble`, and None is
    returned: it never reaches the training."""

    def guarded(action: Callable[..., Any], *args: Any) -> Any:
        try:
            return action(*args)
        except Exception as error:
            note(f"{trouble}: {error!r}.")
            return None

    return guarded
