"""Turns of the user's loops while they happen: whoever listens is called at each."""

from collections.abc import Callable

from stepscope.native import _core

# Called with the loop's number, the ticks, and the line before. Its exceptions reach the script.
Listener = Callable[[int, int, int], object]

_listeners: tuple[Listener, ...] = ()


def listen(listener: Listener) -> None:
    global _listeners
    _listeners = (*_listeners, listener)
    _core.on_stamp(_turned)


def stop_listening(listener: Listener) -> None:
    global _listeners
    _listeners = tuple(each for each in _listeners if each is not listener)
    if not _listeners:
        _core.on_stamp(None)


def reset() -> None:
    global _listeners
    _listeners = ()
    _core.on_stamp(None)


def _turned(loop: int, ticks: int, line_before: int) -> None:
    for listener in _listeners:
        listener(loop, ticks, line_before)
