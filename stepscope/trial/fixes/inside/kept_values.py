"""Values that are read once and handed out again."""

import copy
from collections.abc import Callable
from typing import Any, Final

from stepscope.trial.fixes.inside.contents import content_of

_CHECKS: Final = 3  # a script that writes into what it gets does so every time


class KeptValue:
    """Whoever gets the value may write into it, as they could when it was read again for them. If
    that is seen, everybody gets a copy of their own from then on."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._content = content_of(self._value)
        self._checks = _CHECKS
        self._is_copied = False

    @property
    def can_be_kept(self) -> bool:
        return self._content is not None

    @property
    def size_bytes(self) -> int:
        return self._content.size_bytes if self._content else 0

    def hand_out(self, read: Callable[[], Any]) -> Any:
        """`read`: gets it anew, for when it was written into."""
        if self._checks:
            self._checks -= 1
            if self.was_changed():
                self._value = read()
                self._is_copied = True
        return copy.deepcopy(self._value) if self._is_copied else self._value

    def was_changed(self) -> bool:
        return not self._is_copied and content_of(self._value) != self._content
