"""The user's process as a fix sees it, for tests in this process."""

import sys
from collections.abc import Callable
from types import ModuleType

from stepscope.record.frameworks.watching.patches import Patches


class FakeScript:
    def __init__(self) -> None:
        self.patches = Patches()
        self.said: list[str] = []

    def when_loaded(self, module: str, action: Callable[[ModuleType], object]) -> None:
        if module in sys.modules:
            action(sys.modules[module])

    def applied(self, what: str) -> None:
        self.said.append(f"applied: {what}")

    def refuse(self, reason: str) -> None:
        self.said.append(f"refused: {reason}")
