"""Which of sys.monitoring's ids we hold, and which are free. Other tools see ours as free."""

import sys
from collections.abc import Callable

from stepscope.native import _core

# First those without a usual owner, then the optimiser's, debugger's, profiler's and coverage's.
TOOL_IDS = (3, 4, 5, 0, 2, 1)

_held: set[int] = set()

if sys.version_info >= (3, 12):

    def free_ids() -> list[int]:
        return [
            number
            for number in TOOL_IDS
            if number not in _held and sys.monitoring.get_tool(number) is None
        ]

    def claim(give_way: Callable[[], None]) -> int | None:
        """Take an id; `give_way` is called when another tool wants it. None: all are taken."""
        free = free_ids()
        if not free:
            return None
        sys.monitoring.use_tool_id(free[0], "stepscope")
        _core.tool_lend(free[0], give_way)
        _held.add(free[0])
        return free[0]

    def release(tool_id: int) -> None:
        _core.tool_take_back(tool_id)
        sys.monitoring.free_tool_id(tool_id)
        _held.discard(tool_id)
