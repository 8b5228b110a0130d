"""Which of sys.monitoring's ids we hold, and which are free. Other tools see ours as free."""

import sys
from collections.abc import Callable
from typing import Any

from stepscope.native import _core

# First those without a usual owner, then the optimiser's, debugger's, profiler's and coverage's.
TOOL_IDS = (3, 4, 5, 0, 2, 1)

_held: dict[int, list[str]] = {}  # our ids, and the events that have a callback of ours

if sys.version_info >= (3, 12):

    def event(name: str) -> int:
        return int(getattr(sys.monitoring.events, name))

    def free_ids() -> list[int]:
        return [
            number
            for number in TOOL_IDS
            if number not in _held and sys.monitoring.get_tool(number) is None
        ]

    def claim(give_way: Callable[[], None], callbacks: dict[str, Any]) -> int | None:
        """Take an id for these callbacks, by the names of their events; `give_way` is called when
        another tool wants it. None: all are taken."""
        free = free_ids()
        if not free:
            return None
        sys.monitoring.use_tool_id(free[0], "stepscope")
        _core.tool_lend(free[0], give_way)
        _held[free[0]] = list(callbacks)
        for name, callback in callbacks.items():
            sys.monitoring.register_callback(free[0], event(name), callback)
        return free[0]

    def release(tool_id: int) -> None:
        for name in _held[tool_id]:
            sys.monitoring.register_callback(tool_id, event(name), None)
        _core.tool_take_back(tool_id)
        sys.monitoring.free_tool_id(tool_id)
        del _held[tool_id]

    def move(tool_id: int, detach: Callable[[], None], attach: Callable[[], None]) -> bool:
        """Leave an id that another tool wants: an engine attaches again under another one. False:
        there is no other, and the engine stays detached."""
        others = free_ids()
        detach()
        if not others:
            return False
        sys.monitoring.use_tool_id(tool_id, "stepscope")  # or it would be claimed again
        try:
            attach()
        finally:
            sys.monitoring.free_tool_id(tool_id)
        return True
