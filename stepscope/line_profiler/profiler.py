"""LineProfiler: line_profiler's interface on stepscope's engine."""

import os
import threading
import time
import types
import warnings
from collections.abc import Callable, Mapping
from threading import get_ident
from typing import Any, Final, Literal, TextIO

from stepscope.line_profiler.counting import Counts, Ledger
from stepscope.line_profiler.members import Members
from stepscope.line_profiler.scope import PoliciesLike, to_policies
from stepscope.line_profiler.stats import Key, LineStats, Row
from stepscope.line_profiler.wrapping import (
    functions_behind,
    is_wrapped_by,
    mark_of,
    wrap,
)
from stepscope.native import _core

UNIT_S: Final = 1e-9
_LEAST_CALIBRATION_NS: Final = 1_000_000  # two clock readings 1 ms apart give 5 digits
_lock = threading.RLock()  # the engine's counters are shared by all profilers


class LineProfiler:
    """Counts hits and time of the lines of the functions it was given, while it is enabled.

    All threads count; hits are exact with threads too. `with profiler:`, `profiler(function)`,
    `enable`/`disable`, `runcall` and the rest work as in line_profiler.
    """

    def __init__(
        self,
        *functions: Callable[..., Any],
        wrap_trace: bool | None = None,
        set_frame_local_trace: bool | None = None,
    ) -> None:
        """The two settings are line_profiler's, for living beside a debugger: we always do."""
        self.functions: list[Callable[..., Any]] = []
        self.timer_unit = UNIT_S
        self._ledger = Ledger()
        self._enabled_threads: set[int] = set()
        self._counts: dict[int, int] = {}  # by thread
        self._clock = _core.clock_triple()
        for function in functions:
            self.add_function(function)

    # --- what to profile ------------------------------------------------------------------------

    def __call__(self, function: Any) -> Any:
        """As a decorator: profile while this runs."""
        self.add_callable(function)
        return self.wrap_callable(function)

    def wrap_callable(self, function: Any) -> Any:
        """The function with enabling and disabling around it; see `wrapping`."""
        self._ledger.keep_engine()
        return wrap(self, function)

    def add_function(self, function: Any) -> None:
        """Register one plain function (or method); `add_callable` takes everything else."""
        if hasattr(function, "__wrapped__"):
            warnings.warn(
                f"'{function.__name__}' wraps another function, whose lines are not counted: "
                f"add '{function.__name__}.__wrapped__' to count those.",
                stacklevel=2,
            )
        plain = getattr(function, "__func__", function)
        if not isinstance(plain, types.FunctionType):
            warnings.warn(f"{function!r} has no Python code whose lines count", stacklevel=2)
            return
        with _lock:
            self._ledger.add(plain)
        self.functions.append(function)

    def add_callable(
        self,
        function: object,
        guard: Callable[[Any], bool] | None = None,
        name: str | None = None,
    ) -> Literal[0, 1]:
        """Register all functions behind a function, method, property, partial or class; 1 if there
        were any. `guard(function)` true: leave that one out."""
        found = False
        for behind in functions_behind(function):
            if is_wrapped_by(self, behind) if guard is None else guard(behind):
                continue
            mark = mark_of(behind)
            self.add_function(behind if mark is None else mark.function)
            found = True
        return 1 if found else 0

    def add_class(
        self, cls: type, *, scoping_policy: PoliciesLike = None, wrap: bool = False
    ) -> int:
        """Register what the class contains; returns how many members."""
        return Members(self, self._ledger, to_policies(scoping_policy), replace=wrap).add(cls)

    def add_module(
        self, mod: types.ModuleType, *, scoping_policy: PoliciesLike = None, wrap: bool = False
    ) -> int:
        """Register what the module contains; returns how many members."""
        return Members(self, self._ledger, to_policies(scoping_policy), replace=wrap).add(mod)

    # --- when to profile ------------------------------------------------------------------------

    @property
    def enable_count(self) -> int:
        """How often this thread has it enabled by count right now."""
        return self._counts.get(get_ident(), 0)

    def enable_by_count(self) -> None:
        """Calls nest; the first one of a thread enables."""
        thread = get_ident()
        count = self._counts.get(thread, 0)
        if not count:
            self.enable()
        self._counts[thread] = count + 1

    def disable_by_count(self) -> None:
        thread = get_ident()
        count = self._counts.get(thread, 0)
        if count > 1:
            self._counts[thread] = count - 1
        elif count:
            del self._counts[thread]
            self.disable()

    def enable(self) -> None:
        with _lock:
            if not self._enabled_threads:
                self._ledger.open()
            self._enabled_threads.add(get_ident())

    def disable(self) -> None:
        with _lock:
            if get_ident() not in self._enabled_threads:
                return
            self._enabled_threads.remove(get_ident())
            if not self._enabled_threads:
                self._ledger.close()

    def __enter__(self) -> "LineProfiler":
        self.enable_by_count()
        return self

    def __exit__(self, *_: object) -> None:
        self.disable_by_count()

    def run(self, cmd: str) -> "LineProfiler":
        """Profile a statement in the main module."""
        import __main__

        return self.runctx(cmd, __main__.__dict__, __main__.__dict__)

    def runctx(
        self, cmd: str, globals: dict[str, Any], locals: Mapping[str, Any] | None = None
    ) -> "LineProfiler":
        """Profile a statement in these namespaces."""
        with self:
            exec(cmd, globals, locals)
        return self

    def runcall(self, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Any:
        """Profile one call; returns what it returns."""
        with self:
            return func(*args, **kw)

    # --- what was counted -----------------------------------------------------------------------

    def get_stats(self) -> LineStats:
        """Everything counted so far; functions with the same name and place are one."""
        with _lock:
            counted = [(self._ledger.code(key), lines) for key, lines in self._ledger.counts()]
        ns_per_tick = _ns_per_tick(self._clock)
        merged: dict[Key, Counts] = {}
        for code, lines in counted:
            rows = merged.setdefault((code.co_filename, code.co_firstlineno, code.co_qualname), {})
            for line, (hits, ticks) in lines.items():
                hits_before, ticks_before = rows.get(line, (0, 0))
                rows[line] = hits_before + hits, ticks_before + ticks
        return LineStats({key: _rows(lines, ns_per_tick) for key, lines in merged.items()}, UNIT_S)

    def dump_stats(self, filename: str | os.PathLike[str]) -> None:
        """Write an .lprof file, for `python -m line_profiler`."""
        self.get_stats().to_file(filename)

    def print_stats(
        self,
        stream: TextIO | None = None,
        output_unit: float | None = None,
        stripzeros: bool = False,
        details: bool = True,
        summarize: bool = False,
        sort: bool = False,
        rich: bool = False,
        *,
        config: Any = None,
    ) -> None:
        """Print line_profiler's tables."""
        self.get_stats().print(
            stream=stream,
            output_unit=output_unit,
            stripzeros=stripzeros,
            details=details,
            summarize=summarize,
            sort=sort,
            rich=rich,
            config=config,
        )


def _ns_per_tick(since: tuple[int, int, int]) -> float:
    """From clock readings then and now."""
    ticks, monotonic_ns, _ = since
    while time.monotonic_ns() - monotonic_ns < _LEAST_CALIBRATION_NS:
        pass
    ticks_now, monotonic_ns_now, _ = _core.clock_triple()
    return (monotonic_ns_now - monotonic_ns) / (ticks_now - ticks)


def _rows(lines: Counts, ns_per_tick: float) -> list[Row]:
    return [
        (line, hits, round(ticks * ns_per_tick)) for line, (hits, ticks) in sorted(lines.items())
    ]
