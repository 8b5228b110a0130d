"""Switching a call graph on and off. 3.12 and later: sys.monitoring's tool id for profilers, like
cProfile. 3.11: the profile function of the thread, which the native core sets."""

import sys
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core

ALREADY_ACTIVE: Final = "Another profiling tool is already active"  # cProfile's message

if sys.version_info >= (3, 12):
    _TOOL_ID = sys.monitoring.PROFILER_ID
    _EVENTS = sys.monitoring.events

    def switch_on(graph: _core.CallGraph, *, subcalls: bool, builtins: bool) -> None:
        try:
            sys.monitoring.use_tool_id(_TOOL_ID, "stepscope")
        except ValueError:
            raise ValueError(ALREADY_ACTIVE) from None
        try:
            wanted = _register(_core.graph_callbacks())
            _core.graph_enable(graph, subcalls, builtins)
            sys.monitoring.set_events(_TOOL_ID, wanted)
        except BaseException:
            _core.graph_disable(graph)
            _release()
            raise

    def switch_off(graph: _core.CallGraph) -> None:
        if _core.graph_disable(graph):  # first: nothing below counts any more
            _release()

    def _register(callbacks: dict[str, Callable[..., Any]]) -> int:
        """The events to listen for; the ends of C functions come with CALL."""
        wanted = 0
        for name, callback in callbacks.items():
            event = getattr(_EVENTS, name)
            sys.monitoring.register_callback(_TOOL_ID, event, callback)
            if not name.startswith("C_"):
                wanted |= event
        return wanted

    def _release() -> None:
        sys.monitoring.set_events(_TOOL_ID, 0)
        for name in _core.graph_callbacks():
            sys.monitoring.register_callback(_TOOL_ID, getattr(_EVENTS, name), None)
        sys.monitoring.free_tool_id(_TOOL_ID)

else:

    def switch_on(graph: _core.CallGraph, *, subcalls: bool, builtins: bool) -> None:
        _core.graph_enable(graph, subcalls, builtins)

    def switch_off(graph: _core.CallGraph) -> None:
        _core.graph_disable(graph)
