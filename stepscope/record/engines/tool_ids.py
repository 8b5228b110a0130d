"""The tools of sys.monitoring that our engines are. Other tools see our ids as free: when one wants
ours, the engine moves to another."""

import sys
from collections.abc import Callable

from stepscope.native import _core
from stepscope.typed import Any

# First those without a usual owner, then the optimiser's, debugger's, profiler's and coverage's.
TOOL_IDS = (3, 4, 5, 0, 2, 1)

_held: set[int] = set()  # our ids

if sys.version_info >= (3, 12):

    def event(name: str) -> int:
        return int(getattr(sys.monitoring.events, name))

    def free_ids() -> list[int]:
        return [
            number
            for number in TOOL_IDS
            if number not in _held and sys.monitoring.get_tool(number) is None
        ]

    class Tool:
        """One engine: its callbacks by the names of their events. `begin` and `end` say what it
        listens to; `lost` is called when another tool wants its id and all others are taken."""

        def __init__(
            self,
            callbacks: Callable[[], dict[str, Any]],
            begin: Callable[[int], None],
            end: Callable[[int], None],
            lost: Callable[[], None],
        ) -> None:
            self.id: int | None = None
            self._callbacks, self._begin, self._end, self._lost = callbacks, begin, end, lost

        def attach(self) -> bool:
            """False: all ids are taken."""
            free = free_ids()
            if not free:
                return False
            self.id = free[0]
            sys.monitoring.use_tool_id(self.id, "stepscope")
            _core.tool_lend(self.id, self._give_way)
            _held.add(self.id)
            for name, callback in self._callbacks().items():
                sys.monitoring.register_callback(self.id, event(name), callback)
            self._begin(self.id)
            return True

        def detach(self) -> None:
            if self.id is None:
                return
            sys.monitoring.set_events(self.id, 0)
            self._end(self.id)
            for name in self._callbacks():
                sys.monitoring.register_callback(self.id, event(name), None)
            _core.tool_take_back(self.id)
            sys.monitoring.free_tool_id(self.id)
            _held.discard(self.id)
            self.id = None

        def _give_way(self) -> None:
            """Another tool wants our id. What was counted and what is open stay as they are."""
            assert self.id is not None
            wanted, others = self.id, free_ids()
            self.detach()
            if not others:
                self._lost()
                return
            sys.monitoring.use_tool_id(wanted, "stepscope")  # or it would be claimed again
            try:
                self.attach()
            finally:
                sys.monitoring.free_tool_id(wanted)
