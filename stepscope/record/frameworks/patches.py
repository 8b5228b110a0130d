"""Changes to a framework that can be taken back, and functions whose time is recorded."""

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record import marks
from stepscope.store.format import SpanCategory

_ABSENT: Final = object()


class Patches:
    """Every change, and how to take it back: the last one first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """A change that somebody else has wrapped meanwhile stays where it is, and does nothing."""
        before = vars(owner).get(name, _ABSENT)
        if hasattr(value, "__code__"):
            begin_no_graph(value.__code__)
        setattr(owner, name, value)

        def undo() -> None:
            if vars(owner).get(name) is not value:
                return
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self._undo.append(undo)

    def on_undo(self, action: Callable[[], object]) -> None:
        self._undo.append(action)

    def phase(self, owner: Any, name: str, category: SpanCategory, label: str) -> None:
        """Record the time in `owner.name` as a phase. Absent in some version: left alone."""
        function = vars(owner).get(name)
        if callable(function):
            self.set(owner, name, timed(function, category, label))

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


def timed(function: Callable[..., Any], category: SpanCategory, label: str) -> Callable[..., Any]:
    """`function`, with its time recorded: no frame of ours stays in what it raises."""

    number = int(category)  # an attribute of an enumeration takes longer than the span itself

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if is_compiling() or marks.name_id is None:
            return function(*args, **kwargs)
        span = _core.span_begin(marks.name_id(label), number)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            _core.span_end(span)

    return run


def leave_out_this_frame(error: BaseException) -> None:
    """To be called where it was caught, followed by a bare `raise`, which adds no frame again."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def _never() -> bool:
    return False


def _nothing(_code: CodeType) -> None:
    return


# Whether torch.compile is reading the code instead of running it. Set by torch_phases.
is_compiling: Callable[[], bool] = _never
# Tells torch.compile to begin no graph in this code: without us the call went on to torch's own,
# where it begins none. Reading through it, inside a graph, is another matter. Set by torch_phases.
begin_no_graph: Callable[[CodeType], object] = _nothing
