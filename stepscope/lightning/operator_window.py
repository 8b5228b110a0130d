"""A stretch of steps under torch's profiler, with the ranges that Lightning's profiler names."""

import importlib
from typing import Any


class Window:
    """Actions are `[pl][profile]…` in the trace, modules `[pl][module]…`, steps `ProfilerStep#…`,
    from which TensorBoard and `stepscope show` tell steps apart."""

    def __init__(self, kind: str, profiler: Any, names: Any) -> None:
        self.kind = kind
        self.profiler = profiler
        self.first = self.steps = 0  # steps before it; up to its end
        self.has_begun = self.is_complete = self.is_saved = False
        self._names = names
        self._actions: dict[str, Any] = {}
        self._step: Any = None
        profiler.prepare_trace()

    def begin(self, first: int) -> None:
        if self.has_begun:
            return
        self.has_begun, self.first, self.steps = True, first, first
        self.profiler.start_trace()
        if self._names is not None:
            self._names.__enter__()

    def begin_action(self, name: str) -> None:
        if self.has_begun and name not in self._actions:
            self._actions[name] = _range("[pl][profile]" + name)

    def end_action(self, name: str) -> None:
        _end(self._actions.pop(name, None))

    def begin_step(self, number: int) -> None:
        """Ends the step before: what lies between two belongs to the first, as torch has it."""
        _end(self._step)
        self._step = _range(f"ProfilerStep#{number}") if self.has_begun else None

    def end(self) -> None:
        if not self.has_begun:
            self.profiler.start_trace()  # torch cannot stop what has only been prepared
        elif self._names is not None:
            self._names.__exit__(None, None, None)
        while self._actions:
            _end(self._actions.popitem()[1])
        _end(self._step)
        self._step = None
        self.profiler.stop_trace()

    def described(self) -> str:
        if self.steps == self.first:
            return "all operators"
        kind = self.kind.removesuffix("_step")
        return f"operators of {kind} steps {self.first + 1} to {self.steps}"


def _range(name: str) -> Any:
    made: Any = importlib.import_module("torch").profiler.record_function(name)
    made.__enter__()
    return made


def _end(range_: Any) -> None:
    if range_ is not None:
        range_.__exit__(None, None, None)
