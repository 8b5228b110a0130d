"""Changes to a framework that can be undone."""

from collections.abc import Callable, Iterable
from types import FunctionType

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.timed_calls import end_span, followed, timed, watched
from stepscope.record.names import naming
from stepscope.typed import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stepscope.store.format import SpanCategory

_ABSENT: Final = object()


class Patches:
    """Every change, and how to undo it, the last one first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []
        self._before_compiling: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> "_Change":
        """A change that other code has wrapped meanwhile stays, and does nothing."""
        change = _Change(owner, name, value)
        self._undo.append(change.undo)
        return change

    def set_native(
        self, owner: Any, name: str, native: _core.Timed | _core.Forward, readable: Any
    ) -> None:
        """For what runs in every step. torch.compile cannot read C: before it first reads
        anything, `readable` replaces it."""
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

    def set_everywhere(self, owners: Iterable[Any], name: str, function: Any, value: Any) -> None:
        """In every place that has `function` under that name: code that pickles or imports it by
        name must find the same object."""
        for owner in owners:
            if owner is not None and vars(owner).get(name) is function:
                self.set(owner, name, value)

    def watch(
        self,
        owner: Any,
        name: str,
        begins: Callable[..., Any],
        ended: Callable[[Any, Any], object] = end_span,
        failed: Callable[[Any, BaseException], object] | None = None,
    ) -> None:
        """Put hooks around every call of `owner.name`, as `watched` says."""
        self.set(owner, name, watched(getattr(owner, name), begins, ended, failed))

    def follow(self, owner: Any, name: str, then: Callable[..., object]) -> None:
        """Call `then` after every call of `owner.name`, as `followed` says."""
        self.set(owner, name, followed(getattr(owner, name), then))

    def phase(
        self,
        owner: Any,
        name: str,
        category: "SpanCategory",
        label: str,
        only_if: Callable[[], bool] | None = None,
    ) -> None:
        """Record the time in `owner.name` as a phase. Does nothing if this version lacks it."""
        self.phase_everywhere((owner,), name, category, label, only_if)

    def phase_everywhere(
        self,
        owners: Iterable[Any],
        name: str,
        category: "SpanCategory",
        label: str,
        only_if: Callable[[], bool] | None = None,
    ) -> None:
        """The first of the owners has the function, others may have the same one."""
        home, *others = owners
        function = vars(home).get(name)
        if callable(function):
            value = timed(function, category, label, only_if)
            self.set_everywhere((home, *others), name, function, value)

    def phase_of_each_step(
        self, owner: Any, name: str, category: "SpanCategory", label: str
    ) -> None:
        """Not for functions that scripts import by name: theirs would stay the native one."""
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
