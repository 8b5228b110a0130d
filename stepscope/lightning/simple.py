"""How long each action took, and how often: a tree in which a parent's time is its own plus that of
its children."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

_OUTSIDE: Final = "(outside all actions)"
_TITLES: Final = (
    "Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %", "Own time (s)",
)  # fmt: skip


class Action:
    """An action, nested in the actions around it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self.total_ns = 0
        self.inner: dict[str, Action] = {}

    @property
    def own_ns(self) -> int:
        return self.total_ns - sum(action.total_ns for action in self.inner.values())

    def below(self, depth: int = 0) -> Iterator[tuple[int, "Action"]]:
        """(depth, action) of everything inside it: parents before children, the longest first."""
        for action in sorted(self.inner.values(), key=lambda action: -action.total_ns):
            yield depth, action
            yield from action.below(depth + 1)


class Simple:
    """The actions of all threads, nested per thread."""

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock_ns = clock_ns
        self.restart()

    def restart(self) -> None:
        self._whole = Action("Total")
        self._began_ns = self._clock_ns()
        self._open: dict[int, list[tuple[Action, int]]] = {}

    def start(self, name: str) -> None:
        stack = self._open.setdefault(threading.get_ident(), [])
        around = stack[-1][0] if stack else self._whole
        action = around.inner.get(name)
        if action is None:
            action = around.inner[name] = Action(name)
        stack.append((action, self._clock_ns()))

    def stop(self, name: str) -> None:
        """Actions that began inside it and never ended (something raised) end with it."""
        now_ns = self._clock_ns()
        stack = self._open.get(threading.get_ident(), [])
        if not any(action.name == name for action, _ in stack):
            return
        ended = ""
        while ended != name:
            action, start_ns = stack.pop()
            action.calls += 1
            action.total_ns += now_ns - start_ns
            ended = action.name

    def text(self) -> str:
        whole = self._whole
        whole.total_ns = max(1, self._clock_ns() - self._began_ns)
        actions = [(depth, action) for depth, action in whole.below() if action.calls]
        calls = sum(action.calls for _, action in actions)
        rows = [_row("  " * depth + action.name, action, whole) for depth, action in actions]
        outside = max(0, whole.own_ns)
        rows.append((_OUTSIDE, "-", "-", _s(outside), _percent(outside, whole), _s(outside)))
        total = ("Total", "-", str(calls), _s(whole.total_ns), "100 %", _s(outside))
        return _table([_TITLES], [total], rows)


_Row = tuple[str, ...]


def _row(label: str, action: Action, whole: Action) -> _Row:
    return (
        label,
        _s(action.total_ns / action.calls),
        str(action.calls),
        _s(action.total_ns),
        _percent(action.total_ns, whole),
        _s(action.own_ns),
    )


def _s(ns: float) -> str:
    return f"{ns / 1e9:.5}"


def _percent(ns: int, whole: Action) -> str:
    return f"{100 * ns / whole.total_ns:.5}"


def _table(*blocks: list[_Row]) -> str:
    """Blocks of rows between lines."""
    rows = [row for block in blocks for row in block]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for block in blocks:
        for row in block:
            cells = [f"  {cell:<{width}}  " for cell, width in zip(row, widths, strict=True)]
            lines.append(f"|{'|'.join(cells)}|")
        lines.append("-" * len(lines[-1]))
    return "\n".join([lines[-1], *lines])
