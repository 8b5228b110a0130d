"""Changes to a framework that can be taken back, and functions whose time is recorded."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_ABSENT: Final = object()


class Patches:
    """Every change, and how to take it back: the last one first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []
        self._before_compiling: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> "_Change":
        """A change that somebody else has wrapped meanwhile stays where it is, and does nothing."""
        change = _Change(owner, name, value)
        self._undo.append(change.undo)
        return change

    def set_native(
        self, owner: Any, name: str, native: _core.Timed | _core.Forward, readable: Any
    ) -> None:
        """For what runs in every step. torch.compile reads no C: before it first reads anything,
        `readable` takes the place."""
        self._undo.append(native._stepscope_stop)
        change = self.set(owner, name, native)
        self.before_compiling(lambda: change.replace(readable))

    def before_compiling(self, action: Callable[[], object]) -> None:
        self._before_compiling.append(action)

    def become_readable(self, _args: Any = None) -> None:
        while self._before_compiling:
            self._before_compiling.pop()()

    def on_undo(self, action: Callable[[], object]) -> None:
        self._undo.append(action)

    def phase(self, owner: Any, name: str, category: SpanCategory, label: str) -> None:
        """Record the time in `owner.name` as a phase. Absent in some version: left alone."""
        function = vars(owner).get(name)
        if callable(function):
            self.set(owner, name, timed(function, category, label))

    def phase_of_each_step(self, owner: Any, name: str, category: SpanCategory, label: str) -> None:
        """Not for functions that scripts import by name: theirs would stay native."""
        function = vars(owner).get(name)
        if callable(function) and naming.name_id is not None:
            native = _core.Timed(function, naming.name_id(label), category)
            self.set_native(owner, name, native, timed(function, category, label))

    def undo(self) -> None:
        self._before_compiling.clear()
        while self._undo:
            self._undo.pop()()


class _Change:
    """One attribute of a class or a module."""

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self._owner, self._name = owner, name
        self._before = vars(owner).get(name, _ABSENT)
        self._put(value)

    def _put(self, value: Any) -> None:
        self._value = value
        if isinstance(value, FunctionType):
            compiled_graphs.begin_none_in(value.__code__)
        setattr(self._owner, self._name, value)

    def _is_there(self) -> bool:
        return vars(self._owner).get(self._name) is self._value

    def replace(self, value: Any) -> None:
        if self._is_there():
            self._put(value)

    def undo(self) -> None:
        if not self._is_there():
            return
        if self._before is _ABSENT:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)


def _always() -> bool:
    return True


def timed(
    function: Callable[..., Any],
    category: SpanCategory,
    label: str,
    only_if: Callable[[], bool] = _always,
) -> Callable[..., Any]:
    """`function`, with its time recorded: no frame of ours stays in what it raises."""

    number = int(category)  # an attribute of an enumeration takes longer than the span itself

    @functools.wraps(function, assigned=_names_of(function))
    def run(*args: Any, **kwargs: Any) -> Any:
        if compiled_graphs.is_compiling():
            return function(*args, **kwargs)
        span = 0
        if naming.name_id is not None and only_if():
            span = _core.span_begin(naming.name_id(label), number)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)

    return run


def _names_of(function: Any) -> list[str]:
    """A method written in C may have None for its __qualname__, which no function of ours can."""
    has_all = getattr(function, "__qualname__", None) is not None
    return [name for name in functools.WRAPPER_ASSIGNMENTS if has_all or name != "__qualname__"]


@compiled_graphs.are_not_for
def leave_out_this_frame(error: BaseException) -> None:
    """To be called where it was caught, followed by a bare `raise`, which adds no frame again."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
