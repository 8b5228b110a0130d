"""Problems with a framework, as notes in the run: the training continues."""

from collections.abc import Callable

from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.signal_handlers import let_pass
from stepscope.typed import Any

_note: Callable[[str], object] = print


def send_to(note: Callable[[str], object]) -> None:
    """`note`: the function of the new recording that takes notes."""
    global _note
    _note = note


def note(text: str) -> None:
    _note(text)


def guard(trouble: str) -> Callable[..., Any]:
    """A function that calls its argument. An exception there is noted as `trouble`, and None is
    returned: it never reaches the training. What a signal handler of the script raises does."""

    @compiled_graphs.are_not_for
    def guarded(action: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            return action(*args, **kwargs)
        except Exception as error:
            let_pass(error)
            note(f"{trouble}: {error!r}.")
            return None

    return guarded
