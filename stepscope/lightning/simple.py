"""How long each action took, and how often: a tree in which a parent's time is its own plus that of
its children."""

import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

_OUTSIDE: Final = "(outside all actions)"
_TITLES: Final = (
    "Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %", "Own time (s)",
)  # fmt: skip
_SHORT: Final = (0, 1, 3, 5)  # the columns of a table that is not extended


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
    """The actions of all threads, nested per thread. `extended`: with calls and percentages."""

    def __init__(
        self, extended: bool = True, clock_ns: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self._extended = extended
        self._clock_ns = clock_ns
        self.restart()

    def restart(self) -> None:
        self._whole = Action("Total")
        self._began_ns = self._clock_ns()
        self._open: dict[int, list[tuple[Action, int]]] = {}
        self._durations_s: dict[str, array[float]] = {}  # 8 bytes each: there may be millions

    @property
    def durations_s(self) -> dict[str, list[float]]:
        """Of every call, by action; those of an unknown action are none."""
        known = {name: list(durations_s) for name, durations_s in self._durations_s.items()}
        return defaultdict(list, known)

    def start(self, name: str) -> None:
        stack = self._open.setdefault(threading.get_ident(), [])
        if any(action.name == name for action, _ in stack):
            raise ValueError(f"Attempted to start {name} which has already started.")
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
        while self._end(*stack.pop(), now_ns) != name:
            pass

    def _end(self, action: Action, start_ns: int, now_ns: int) -> str:
        action.calls += 1
        action.total_ns += now_ns - start_ns
        self._durations_s.setdefault(action.name, array("d")).append((now_ns - start_ns) / 1e9)
        return action.name

    def end(self) -> None:
        """Nothing is running."""

    def text(self) -> str:
        whole = self._whole
        whole.total_ns = max(1, self._clock_ns() - self._began_ns)
        actions = [(depth, action) for depth, action in whole.below() if action.calls]
        calls = sum(action.calls for _, action in actions)
        rows = [_row("  " * depth + action.name, action, whole) for depth, action in actions]
        outside = max(0, whole.own_ns)
        rows.append((_OUTSIDE, "-", "-", _s(outside), _percent(outside, whole), _s(outside)))
        total = ("Total", "-", str(calls), _s(whole.total_ns), "100 %", _s(outside))
        blocks: list[list[_Row]] = [[_TITLES], [total], rows]
        return _table(*(blocks if self._extended else map(_shortened, blocks)))


_Row = tuple[str, ...]


def _shortened(rows: list[_Row]) -> list[_Row]:
    return [tuple(row[column] for column in _SHORT) for row in rows]


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
