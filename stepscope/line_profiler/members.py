"""What a class or a module contains, registered with a profiler: its functions, and what is in the
classes and modules that the policies let in."""

import types
from collections.abc import Callable
from typing import Any, Protocol

from stepscope.line_profiler.counting import Ledger
from stepscope.line_profiler.scope import Policies, admits
from stepscope.line_profiler.wrapping import Switch, is_wrapped_by, wrap_members


class Registers(Switch, Protocol):
    """The part of a profiler that is needed here."""

    def add_callable(self, function: object, guard: Callable[[Any], bool]) -> int: ...


class Members:
    """`replace`: also put the functions with enabling and disabling around them in their places."""

    def __init__(
        self, profiler: Registers, ledger: Ledger, policies: Policies, *, replace: bool
    ) -> None:
        self._profiler, self._ledger = profiler, ledger
        self._policies, self._replace = policies, replace
        self._seen: set[int] = set()

    def add(self, namespace: Any) -> int:
        """The number of members with something to count."""
        takes = {kind: admits(each, namespace, kind) for kind, each in self._policies.items()}
        replaced: dict[str, Any] = {}
        count = 0
        for name, member in list(vars(namespace).items()):
            if id(member) in self._seen:
                continue
            self._seen.add(id(member))
            if isinstance(member, type | types.ModuleType):
                fits = takes["class" if isinstance(member, type) else "module"](member)
                count += bool(fits and self.add(member))
            elif self._add_member(member, takes["func"]):
                count += 1
                replaced[name] = member
        if self._replace:
            self._ledger.keep_engine()
            wrap_members(self._profiler, namespace, replaced)
        return count

    def _add_member(self, member: object, fits: Callable[[Any], bool]) -> bool:
        def is_left_out(function: Any) -> bool:
            return is_wrapped_by(self._profiler, function) or not fits(function)

        try:
            return bool(self._profiler.add_callable(member, guard=is_left_out))
        except TypeError:  # it is not callable
            return False
