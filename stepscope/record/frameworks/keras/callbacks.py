"""Keras: how long each callback takes, and each epoch, as actions.

Callbacks that only report are also the phase `logging`.
"""

import weakref
from types import FunctionType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.keras.package import Package
from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import watched
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_BEGINNINGS: Final = (
    "on_train_begin", "on_train_batch_begin", "on_test_begin", "on_predict_begin",
)  # fmt: skip
# They only report to the outside.
_REPORTING: Final = frozenset(("CSVLogger", "ProgbarLogger", "RemoteMonitor", "TensorBoard"))
_EPOCH: Final = "epoch"
_MOST_SPANS: Final = 1_000_000  # 48 MB
_FULL: Final = f"Only the first {_MOST_SPANS:,} actions were recorded."


def install(package: Package, patches: Patches) -> None:
    callbacks = _Callbacks(patches)
    for name in _BEGINNINGS:
        _watch_list(package.callback_list, name, callbacks, patches)
    _watch_epochs(package.callback_list, patches)


def _watch_list(kind: Any, name: str, callbacks: "_Callbacks", patches: Patches) -> None:
    """Called by whichever hook comes first: recording may begin in the middle of a training."""

    def begins(asked: Any, /, *_args: Any, **_kwargs: Any) -> None:
        if naming.name_id is not None:
            callbacks.watch(asked)

    patches.watch(kind, name, begins)


def _watch_epochs(kind: Any, patches: Patches) -> None:
    """From the callbacks at an epoch's beginning to those at its end: the others are inside."""
    spans: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def epoch_begins(callbacks: Any, /, *_args: Any, **_kwargs: Any) -> None:
        if naming.name_id is not None:
            spans[callbacks] = _core.span_begin(naming.name_id(_EPOCH), SpanCategory.ACTION)

    def epoch_ends(callbacks: Any, /, *_args: Any, **_kwargs: Any) -> int | None:
        return spans.pop(callbacks, None)

    patches.watch(kind, "on_epoch_begin", epoch_begins)
    patches.watch(kind, "on_epoch_end", epoch_ends)


class _Callbacks:
    """The methods of the callbacks' classes, each watched once, in the class that defines it."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._lists: weakref.WeakSet[Any] = weakref.WeakSet()
        self._done: set[tuple[type, str]] = set()
        self._left = _MOST_SPANS

    def watch(self, callbacks: Any) -> None:
        if callbacks in self._lists:
            return
        self._lists.add(callbacks)
        for callback in callbacks.callbacks:
            kind = type(callback)
            for name in dir(kind):
                if name.startswith("on_") and not _does_nothing(getattr(kind, name)):
                    self._watch_method(kind, name)

    def _watch_method(self, kind: type, name: str) -> None:
        owner = next((owner for owner in kind.__mro__ if name in vars(owner)), object)
        function = vars(owner).get(name)
        if (owner, name) in self._done or not isinstance(function, FunctionType):
            return
        self._done.add((owner, name))
        self._patches.set(owner, name, self._timed(function, name))

    def _timed(self, function: Any, name: str) -> Any:
        def begins(callback: Any, /, *_args: Any, **_kwargs: Any) -> tuple[int, ...]:
            return self._begin(type(callback), name, run)

        run = watched(function, begins, _end_all)
        return run

    def _begin(self, kind: type, name: str, asked: Any) -> tuple[int, ...]:
        """Nothing if a subclass calls the method it extends: its own is recorded."""
        if naming.name_id is None or self._left <= 0 or getattr(kind, name, None) is not asked:
            return ()
        self._left -= 1
        if not self._left:
            notes.note(_FULL)
        label = naming.name_id(f"{kind.__name__}.{name}")
        action = _core.span_begin(label, SpanCategory.ACTION)
        if any(base.__name__ in _REPORTING for base in kind.__mro__):
            return _core.span_begin(label, SpanCategory.LOGGING), action
        return (action,)


def _end_all(spans: tuple[int, ...], _result: Any) -> None:
    for span in spans:
        _core.span_end(span)


def _does_nothing(method: Any) -> bool:
    """Keras marks the methods of its base class."""
    return bool(getattr(method, "_is_default", False))
