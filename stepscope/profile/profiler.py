"""Profile: cProfile's interface on stepscope's engine."""

import os
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, Final, ParamSpec, TypeVar

from stepscope.native import _core
from stepscope.profile.stats import Code, Entry, Stats, SubEntry, stats_of
from stepscope.profile.switch import switch_off, switch_on
from stepscope.profile.tick_rate import seconds_a_tick
from stepscope.record.names.function_names import OUR_EXTENSION, builtin_label

P = ParamSpec("P")
T = TypeVar("T")
Sort = int | str | tuple[int | str, ...]  # what pstats sorts by

_NS: Final = 1e-9  # the unit of a timer that returns seconds


def _shown(function: Any) -> Code | None:
    """None for what belongs to this profiler: it is not one of the program's functions."""
    if isinstance(function, CodeType):
        return None if function.co_filename.startswith(_OURS) else function
    return None if function.__module__ == OUR_EXTENSION else builtin_label(function)


_OURS: Final = os.path.dirname(_shown.__code__.co_filename) + os.sep


class Profile:
    """Counts the calls of every function, and times them, in the thread that enables it.

    `with Profile() as profile:`, `enable` and `disable`, `runcall` and the rest work as in
    cProfile. A `timer` returns seconds, or integers of `timeunit` seconds each.
    """

    def __init__(
        self,
        timer: Callable[[], float] | None = None,
        timeunit: float = 0.0,
        subcalls: bool = True,
        builtins: bool = True,
    ) -> None:
        if timer is not None and not callable(timer):
            raise TypeError(f"timer must be a function that returns the time, not {timer!r}")
        self.stats: Stats = {}
        self._subcalls = bool(subcalls)
        self._builtins = bool(builtins)
        unit_s = float(timeunit)
        self._unit_s = None if timer is None else unit_s or _NS
        self._graph = _core.graph_new(_shown, timer, unit_s > 0)

    def __del__(self) -> None:
        """Nobody can switch it off any more, and only one may be on."""
        graph = getattr(self, "_graph", None)  # absent when __init__ raised
        if graph is not None and switch_off is not None:  # None when the interpreter ends
            switch_off(graph)

    # --- when to profile ------------------------------------------------------------------------

    def enable(self, subcalls: bool | None = None, builtins: bool | None = None) -> None:
        """Count from now on; None: as before. ValueError when another profiler is active."""
        subcalls = self._subcalls if subcalls is None else bool(subcalls)
        builtins = self._builtins if builtins is None else bool(builtins)
        switch_on(self._graph, subcalls=subcalls, builtins=builtins)
        self._subcalls, self._builtins = subcalls, builtins

    def disable(self) -> None:
        """Stop counting; the calls that are running end here."""
        switch_off(self._graph)

    def clear(self) -> None:
        """Forget everything counted so far."""
        _core.graph_clear(self._graph)

    def __enter__(self) -> "Profile":
        self.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self.disable()

    def run(self, cmd: str | CodeType) -> "Profile":
        """Profile a statement in the main module."""
        import __main__

        return self.runctx(cmd, __main__.__dict__, __main__.__dict__)

    def runctx(
        self,
        cmd: str | CodeType,
        globals: dict[str, Any],
        locals: Mapping[str, Any] | None,
    ) -> "Profile":
        """Profile a statement in these namespaces."""
        self.enable()
        try:
            exec(cmd, globals, locals)
        finally:
            self.disable()
        return self

    def runcall(self, func: Callable[P, T], /, *args: P.args, **kw: P.kwargs) -> T:
        """Profile one call; returns what it returns."""
        self.enable()
        try:
            return func(*args, **kw)
        finally:
            self.disable()

    # --- what was counted -----------------------------------------------------------------------

    def getstats(self) -> list[Entry]:
        """An entry for each function, with its callees, for the calls that have ended."""
        rows = _core.graph_read(self._graph)
        unit_s = seconds_a_tick() if self._unit_s is None else self._unit_s

        def entry(code: Code, calls: int, inner: int, ticks: int, own_ticks: int) -> SubEntry:
            return SubEntry(code, calls, inner, ticks * unit_s, own_ticks * unit_s)

        return [
            Entry(*entry(*row[:5]), calls=[entry(*callee) for callee in row[5]] or None)
            for row in rows
        ]

    def snapshot_stats(self) -> None:
        """Put what was counted so far into `stats`."""
        self.stats = stats_of(self.getstats())

    def create_stats(self) -> None:
        """The same, and stop counting: pstats calls this."""
        self.disable()
        self.snapshot_stats()

    def dump_stats(self, file: str | os.PathLike[str]) -> None:
        """Write the statistics to a file, for `python -m pstats` and similar tools."""
        self.create_stats()
        import marshal

        with open(file, "wb") as out:
            marshal.dump(self.stats, out)

    def print_stats(self, sort: Sort = -1) -> None:
        """Print pstats' table."""
        self.disable()
        import pstats

        keys = sort if isinstance(sort, tuple) else (sort,)
        stats: Any = pstats.Stats(self)  # type: ignore[arg-type]  # has `create_stats`
        stats.strip_dirs().sort_stats(*keys).print_stats()
