"""When to look into a script that may have no steps: at its first calls of a module.

From the very first call, for a few calls of the same module; again after that module's warm-up.
A script that compiles gets none: the first call would be the compilation.
"""

from typing import Final

TURNS: Final = 5  # calls of the module that began the probe: enough for it
TURNS_BETWEEN: Final = 20  # calls before another one, after warm-up
LEAST_NS: Final = 50_000_000


class Probe:
    def __init__(self) -> None:
        self.module = 0  # id of the module that was called when the probe began
        self.turns = 0  # its calls since the probe was opened or closed
        self.is_off = False
        self._is_after_warmup = False

    def begins_with(self, module: int, windows: int) -> bool:
        """Whether to open one at this call. `windows`: how many there were so far."""
        is_later = self.turns == TURNS_BETWEEN and not self._is_after_warmup
        if self.is_off or (windows > 0 and not is_later):
            return False
        self.module, self.turns = module, 0
        self._is_after_warmup = is_later
        return True

    def has_seen_enough(self, lasted_ns: int) -> bool:
        """For a script whose updates cannot be seen: the module that began the probe is called
        repeatedly. In some scripts that is a cell, with hundreds of calls per step."""
        return self.turns >= TURNS and lasted_ns >= LEAST_NS
