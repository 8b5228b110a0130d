"""JAX: what is known about the user's jitted functions, and what is recorded of a call.

A call's span has a number only where the function trains: it updates what it is given, or returns
gradients of it. The same code jitted again and again, in a loop, is one function.
"""

import contextlib
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation, compile_causes
from stepscope.record.frameworks.jax.updates import Updates
from stepscope.record.frameworks.watching import notes
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import SpanCategory, about_compute

FIRST_NUMBER: Final = 1 << 40  # of all functions here; optimizers count from 1
_MOST_NOTES: Final = 10  # nobody reads more
_MOST_CAUSES: Final = 100  # names of spans for one function
_MOST_SIGNATURES: Final = 50  # of a function, to compare the next one with
_MOST_CALLS: Final = 20_000  # recorded, of a function that does not train
_MUCH_LARGER: Final = 10  # times what the step so far updates: this one is the step
_here = compilation.here
_guarded: Final = notes.guard("Recording lost something of JAX")

# Called when JAX trains, and when a function is called for the first time. None: no listener.
on_work: Callable[[], None] | None = None
on_first_call: Callable[[], None] | None = None
# Called when a function has returned, with the ticks at which the call began, and its result.
on_result: "Callable[[Function, int, Any], object] | None" = None


def worked() -> None:
    if on_work is not None:
        on_work()


@contextlib.contextmanager
def step_ends_with(result: Any) -> Iterator[None]:
    """For code that waits for it: it may be far from computed."""
    _here.result = result
    try:
        yield
    finally:
        _here.result = None


class Function:
    """The user's code that was jitted, once or repeatedly."""

    def __init__(self, number: int, name: str, updates: Updates) -> None:
        self.number = number
        self.name = name
        self.updates = updates
        self.calls = 0
        self.jit: weakref.ref[Any] | None = None  # the one that is in use
        self.is_anew = False  # it was jitted again since it was compiled
        self.signatures: list[compile_causes.Signature] = []
        self.causes: set[str] = set()


class Functions:
    """All jitted functions."""

    def __init__(self, array: type, tree_util: Any) -> None:
        self._array = array
        self.tree_util = tree_util
        self._numbers = itertools.count(1)
        self._by_key: dict[CodeType | str, list[Function]] = {}
        self._names: set[str] = set()
        self._noted: set[tuple[int, str]] = set()
        self._leader: Function | None = None
        self._steps = 0
        self._asked_for = 0  # whoever waits for steps asks to be told from this one on
        self._namer: Any = None  # of the recording that they belong to

    def of(self, key: CodeType | str, names: tuple[str, str], stand_in: Any) -> Function:
        """One of the same code whose stand-in is gone, or a new one. `names`: its own, and another
        if that name is taken."""
        known = self._by_key.setdefault(key, [])
        for function in known:
            if function.jit is None or function.jit() is None:
                function.is_anew = True
                break
        else:
            name = names[names[0] in self._names]
            self._names.add(name)
            function = Function(next(self._numbers), name, Updates(self.tree_util, self._array))
            known.append(function)
        function.jit = weakref.ref(stand_in)
        return function

    def note(self, number: int, kind: str, text: str) -> None:
        if (number, kind) not in self._noted and len(self._noted) < _MOST_NOTES:
            self._noted.add((number, kind))
            notes.note(text)

    def trained(self, function: Function, result: Any = None) -> None:
        """A call has ended. The first function is the step, unless one updates far more."""
        leader = self._leader or function
        size = function.updates.updated_bytes
        if leader is not function and size <= _MUCH_LARGER * leader.updates.updated_bytes:
            return
        self._leader = function
        if naming.name_id is not self._namer:
            self._namer, self._steps, self._asked_for = naming.name_id, 0, 0
        self._steps += 1
        if self._steps >= self._asked_for:
            with step_ends_with(result):
                self._asked_for = step_counter.optimizer_stepped(FIRST_NUMBER, self._steps)


class Jit:
    """What one call of jax.jit made."""

    def __init__(
        self, functions: Functions, made: Any, code: CodeType | None, caller: FrameType | None
    ) -> None:
        self._functions = functions
        self._made = made
        self._name = str(getattr(made, "__name__", "function"))
        self._jitted_at = _place(caller.f_code, caller.f_lineno) if caller is not None else None
        self._where = _place(code, code.co_firstlineno) if code is not None else self._jitted_at
        self._key = code if code is not None else f"{self._name} {self._jitted_at}"
        self._function: Function | None = None
        self._namer: Any = None
        self._name_id = 0

    # --- a call ----------------------------------------------------------------------------------

    def begins(self, stand_in: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """The span, 0: none. Compilations on this thread from now on are for this call."""
        function = self._function
        if naming.name_id is not self._namer or function is None:
            function = self._settle(stand_in)
        updates = function.updates
        if updates.is_open:
            _guarded(self._look, function, args, kwargs)
        function.calls += 1
        _here.is_running, _here.first, _here.began = True, 0, _core.ticks()
        if not updates.trains:
            if function.calls > _MOST_CALLS:
                return 0
            return _core.span_begin(self._name_id, SpanCategory.COMPUTE, 0, 0, _here.began)
        about = about_compute(updates.samples(args), updates.updated_bytes > 0)
        return _core.span_begin(
            self._name_id, SpanCategory.COMPUTE, function.number, about, _here.began
        )

    def ended(self, span: int, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        _core.span_end(span)
        _here.is_running, _here.asked = False, 0
        function = self._function
        assert function is not None
        if _here.first:
            _guarded(self._compiled, function, args, kwargs)
        if function.updates.is_open:
            _guarded(function.updates.ended, args, result)
        if on_result is not None:
            on_result(function, _here.began, result)
        if function.updates.trains:
            worked()
            self._functions.trained(function, result)

    def _settle(self, stand_in: Any) -> Function:
        """The first call, or the first in another recording."""
        if on_first_call is not None:
            on_first_call()
        if self._function is None:
            names = self._name, f"{self._name} ({self._jitted_at or self._where})"
            self._function = self._functions.of(self._key, names, stand_in)
        self._namer = naming.name_id
        self._name_id = self._namer(self._function.name)
        return self._function

    def _look(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if function.updates.called(args, kwargs):
            self._functions.trained(function)  # the call before, which did the same

    # --- compilation -----------------------------------------------------------------------------

    def _compiled(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        what = f"jit {self._name} ({self._where})"
        because, kind = self._cause(function, args, kwargs)
        if because:
            line = _calling_line(sys._getframe(1))
            if len(function.causes) < _MOST_CAUSES:
                function.causes.add(because)
            elif because not in function.causes:
                because = kind
            self._functions.note(
                function.number, f"{kind} {line}",
                f"{self._name} ({self._where}) was compiled again, called at {line}: {because}.",
            )  # fmt: skip
            what = f"{what}; again because {because}; called at {line}"
        compilation.add_span(what, _here.first, _here.last)

    def _cause(
        self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[str, str]:
        """The cause as text, and a key for causes of its kind. Empty: the first compilation."""
        now = compile_causes.signature_of(self._made, args, kwargs, self._functions.tree_util)
        earlier, is_anew = function.signatures, function.is_anew
        function.is_anew = False
        change = compile_causes.change(earlier, now)
        is_first = not earlier
        if now not in earlier:
            earlier.append(now)
            del earlier[:-_MOST_SIGNATURES]
        if is_first:
            return "", ""
        if change is not None:
            return change.text, change.kind
        if is_anew:
            return f"it is a new function, jitted at {self._jitted_at}", "new function"
        return "its cache was cleared, or its arguments are placed elsewhere", "something else"


def _calling_line(frame: FrameType | None) -> str:
    """The nearest line of the user's code."""
    while frame is not None and not _core.lines_is_registered(frame.f_code):
        frame = frame.f_back
    return _place(frame.f_code, frame.f_lineno) if frame is not None else "?"


def _place(code: CodeType, line: int) -> str:
    return f"{os.path.basename(code.co_filename)}:{line}"
