"""Which functions ran in each action, and how long, in pstats' format.

An action's statistics cover the time when it was the innermost one. The actions inside it are rows
of their own, so that the rows sum to the action's whole time.
"""

import dataclasses
import io
import marshal
import os
import pstats
import threading
import time
from typing import Any, Final

from stepscope.profile.profiler import Profile
from stepscope.profile.stats import Stats

_OURS: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
_REST: Final = "<functions around actions, after those ended>"


@dataclasses.dataclass
class _Counted:
    """One action's functions, its time, and the actions inside it: how often, how long."""

    profile: Profile = dataclasses.field(default_factory=Profile)
    total_s: float = 0.0
    inner: dict[str, tuple[int, float]] = dataclasses.field(default_factory=dict)


class Advanced:
    """Only one thread is counted: that of the first action."""

    def __init__(self, line_count_restriction: float) -> None:
        self._restriction = line_count_restriction
        self._open: list[tuple[str, float]] = []
        self.restart()

    def restart(self) -> None:
        self.end()
        self._actions: dict[str, _Counted] = {}
        self._thread: int | None = None
        self._trouble: str | None = None

    @property
    def profiles(self) -> dict[str, Profile]:
        """By action: what ran while it was the innermost one."""
        return {name: counted.profile for name, counted in self._actions.items()}

    def start(self, name: str) -> None:
        if self._thread is None:
            self._thread = threading.get_ident()
        if self._trouble is not None or self._thread != threading.get_ident():
            return
        if self._open:
            self._actions[self._open[-1][0]].profile.disable()
        self._open.append((name, time.perf_counter()))
        counted = self._actions.setdefault(name, _Counted())
        self._count(counted.profile)

    def _count(self, profile: Profile) -> None:
        """Must come last: calls count from here on."""
        try:
            profile.enable()
        except ValueError as error:
            self._trouble = f"{error}: functions are not counted."

    def stop(self, name: str) -> None:
        """Actions that began inside it and never ended (something raised) end with it."""
        is_open = self._thread == threading.get_ident() and self._open
        if not is_open or self._trouble is not None:
            return
        self._actions[self._open[-1][0]].profile.disable()
        now = time.perf_counter()
        if any(action == name for action, _ in self._open):
            while self._end(now) != name:
                pass
        if self._open:
            self._count(self._actions[self._open[-1][0]].profile)

    def _end(self, now: float) -> str:
        name, began = self._open.pop()
        lasted = now - began
        if all(action != name for action, _ in self._open):  # else it is part of its own time
            self._actions[name].total_s += lasted
        if self._open and self._open[-1][0] != name:
            inner = self._actions[self._open[-1][0]].inner
            calls, total_s = inner.get(name, (0, 0.0))
            inner[name] = calls + 1, total_s + lasted
        return name

    def end(self) -> None:
        """Stop counting, in the middle of an action too."""
        if self._open:
            self._actions[self._open[-1][0]].profile.disable()
        self._open = []

    def text(self) -> str:
        parts = [
            f"Profile stats for: {name}\n{self._table(counted)}"
            for name, counted in self._actions.items()
        ]
        return "\n".join([*([self._trouble] if self._trouble else []), *parts])

    def dumps(self) -> dict[str, bytes]:
        """By action: a file for `python -m pstats` and snakeviz."""
        return {name: marshal.dumps(_all_rows(counted)) for name, counted in self._actions.items()}

    def _table(self, counted: _Counted) -> str:
        rows = _all_rows(counted)
        if not rows:  # pstats has no table for that
            return f"         0 function calls in {counted.total_s:.3f} seconds\n"
        out = io.StringIO()
        stats: Any = _Ready(rows)  # pstats accepts any object with `stats`
        table = pstats.Stats(stats, stream=out).strip_dirs().sort_stats("cumulative")
        table.print_stats(self._restriction)
        return out.getvalue()


@dataclasses.dataclass
class _Ready:
    stats: Stats

    def create_stats(self) -> None:
        """pstats calls it."""


def _all_rows(counted: _Counted) -> Stats:
    """A function that was running when an action began inside it is counted up to there: what the
    surrounding functions took afterwards is one row."""
    counted.profile.snapshot_stats()
    rows = _without_ours(counted.profile.stats)
    for name, (calls, total_s) in counted.inner.items():
        rows["~", 0, f"<action {name}>"] = calls, calls, total_s, total_s, {}
    rest_s = counted.total_s - sum(row[2] for row in rows.values())
    if counted.inner and rest_s > 0:
        rows["~", 0, _REST] = 1, 1, rest_s, rest_s, {}
    return rows


def _without_ours(rows: Stats) -> Stats:
    """Neither our functions nor what they call: the clock, the number of a thread."""
    found: Stats = {}
    for key, (primitive, calls, own_s, total_s, callers) in rows.items():
        ours = [each for caller, each in callers.items() if _OURS in caller[0]]
        if _OURS in key[0] or calls == sum(each[1] for each in ours):
            continue
        found[key] = (
            primitive - sum(each[0] for each in ours),
            calls - sum(each[1] for each in ours),
            own_s - sum(each[2] for each in ours),
            total_s - sum(each[3] for each in ours),
            {caller: each for caller, each in callers.items() if _OURS not in caller[0]},
        )
    return found
