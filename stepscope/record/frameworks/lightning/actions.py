"""Lightning: the actions that its profilers get, nested, with or without a profiler.

A profiler that the script chose works as before. None of the script's objects is replaced: the
classes are watched.
"""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import followed, watched
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_MOST_SPANS: Final = 1_000_000  # 48 MB: some 25,000 steps
_MOST_NAMES: Final = 2_000  # a name of its own for each batch would fill names.jsonl
_DEEPEST: Final = 200  # deeper, something never ends its actions
_FULL: Final = f"Only the first {_MOST_SPANS:,} actions were recorded."
_ONE_OF_MANY: Final = "(more actions)"


def install(lightning: Any, patches: Patches) -> Callable[[type], None]:
    """`lightning`: lightning.pytorch or pytorch_lightning. Returns a function that watches another
    profiler class: the script may have its own."""
    actions = _Actions()
    watched: set[type] = set()

    def watch(profiler: type) -> None:
        _watch(profiler, actions, watched, patches)

    for profiler in _with_subclasses(lightning.profilers.Profiler):
        watch(profiler)
    _watch_pass_through(lightning.profilers.PassThroughProfiler, actions, patches)
    return watch


def _with_subclasses(kind: type) -> Iterator[type]:
    yield kind
    subclasses: list[type] = kind.__subclasses__()
    for subclass in subclasses:
        yield from _with_subclasses(subclass)


class _Actions:
    """The open actions of each thread, and their spans."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._names: dict[str, int] = {}
        self._left = _MOST_SPANS

    def _stack(self) -> list[tuple[str, int]]:
        try:
            stack: list[tuple[str, int]] = self._threads.stack
        except AttributeError:
            stack = self._threads.stack = []
        return stack

    def begin(self, action: str) -> None:
        if type(action) is not str or naming.name_id is None:
            return
        stack = self._stack()
        if self._left <= 0 or len(stack) >= _DEEPEST:
            return
        name = self._names.get(action) or self._name(action)
        stack.append((action, _core.span_begin(name, SpanCategory.ACTION)))
        self._left -= 1
        if not self._left:
            notes.note(_FULL)

    def _name(self, action: str) -> int:
        assert naming.name_id is not None
        if len(self._names) >= _MOST_NAMES:
            return naming.name_id(_ONE_OF_MANY)
        number = naming.name_id(action)
        if number:
            self._names[action] = number
        return number

    def end(self, action: str) -> None:
        """Actions that began inside it and never ended (something raised) end with it."""
        stack = self._stack()
        at = len(stack) - 1
        while at >= 0 and stack[at][0] != action:
            at -= 1
        if at < 0:
            return
        while len(stack) > at:
            _core.span_end(stack.pop()[1])


# --- profilers ------------------------------------------------------------------------------------


def _watch(profiler: type, actions: _Actions, watched: set[type], patches: Patches) -> None:
    """Every class that has its own start and stop, once."""
    for owner in profiler.__mro__:
        if owner in watched or not hasattr(owner, "start") or not hasattr(owner, "stop"):
            continue
        watched.add(owner)
        for name, wrap in (("start", _with_begin), ("stop", _with_end)):
            function = vars(owner).get(name)
            if callable(function) and not getattr(function, "__isabstractmethod__", False):
                patches.set(owner, name, wrap(function, actions))


def _with_begin(start: Any, actions: _Actions) -> Any:
    """The profiler's own work is not part of the action: it comes before."""

    def begun(profiler: Any, action_name: str, *_args: Any, **_kwargs: Any) -> None:
        if type(profiler).start is run:  # else a subclass called it, and its own start is recorded
            actions.begin(action_name)

    run = followed(start, begun)
    return run


def _with_end(stop: Any, actions: _Actions) -> Any:
    def ends(profiler: Any, action_name: str, *_args: Any, **_kwargs: Any) -> None:
        if type(profiler).stop is run:
            actions.end(action_name)

    run = watched(stop, ends)
    return run


class _Action(contextlib.ContextDecorator):
    """What Lightning's own `profile` does, without a generator: recording costs what that did."""

    __slots__ = ("_action", "_actions")

    def __init__(self, actions: _Actions, action: str) -> None:
        self._actions = actions
        self._action = action

    def __enter__(self) -> str:
        self._actions.begin(self._action)
        return self._action

    def __exit__(self, *error: object) -> None:
        self._actions.end(self._action)


def _watch_pass_through(profiler: Any, actions: _Actions, patches: Patches) -> None:
    """The profiler that is used by default: `profile` goes directly to the recording."""
    profile, start, stop = profiler.profile, profiler.start, profiler.stop

    @functools.wraps(profile)
    def run(self: Any, action_name: str) -> Any:
        kind = type(self)
        if compiled_graphs.is_compiling() or kind.start is not start or kind.stop is not stop:
            return profile(self, action_name)
        return _Action(actions, action_name)

    patches.set(profiler, "profile", run)
