"""What one profiler has counted: the engine's counters while it was switched on.

The counters belong to the code objects, and others may count on them too: another LineProfiler, a
recording. So a ledger keeps differences, interval by interval:

1. `open` reads the counters; `close` reads them again and adds the differences.
2. Where `close` stops the engine, the counters stand still: the ledger rests without reading them,
   and its next `open` continues the same interval. Starting the engine for another user settles
   the resting ledger first. So a decorated function costs no reading per call.
3. A line that runs at `close` has not ended: its last hit does not count, as in line_profiler.
   A line that was already running at `open` and was not hit since does not count either.
"""

import sys
import weakref
from types import CodeType, FrameType, FunctionType

from stepscope.native import _core
from stepscope.record.code.code_table import table
from stepscope.record.engines import lines as engine

Counts = dict[int, tuple[int, int]]  # line to (hits, ticks)
Running = dict[int, tuple[int, int]]  # id of a frame to (key of its code, line)

# At most one ledger is at rest: starting the engine settles it first.
_resting: "weakref.ref[Ledger] | None" = None


def settle_resting() -> None:
    """Before the engine starts for another user: save what was counted so far."""
    ledger = _resting() if _resting is not None else None
    if ledger is not None:
        ledger.settle()


engine.before_start.append(settle_resting)


class Ledger:
    """The sums of one profiler. Not for two threads at once: the profiler holds a lock."""

    def __init__(self) -> None:
        self._codes: dict[int, CodeType] = {}  # by identity: equal code may be different code
        self._keys: dict[int, tuple[int, CodeType]] = {}  # 3.11: each function has its own ticks
        self._before: dict[int, Counts] | None = None  # None: between intervals
        self._sums: dict[int, Counts] = {}
        self._unfinished: list[tuple[int, int]] = []  # (key, line) that ran at `close`
        self._running_before: Running = {}
        self._keeps_engine = False
        self._reference = weakref.ref(self)

    def keep_engine(self) -> None:
        """It will be opened often: keep the engine attached as long as this ledger lives."""
        if not self._keeps_engine:
            self._keeps_engine = True
            engine.keep_attached()
            weakref.finalize(self, engine.let_go)

    def add(self, function: FunctionType) -> None:
        """Count this function from now on."""
        if not engine.HAS_MONITORING:
            # 3.11: a frame runs the code it began with, even if it enables us half-way through.
            self.keep_engine()
        code = engine.register_function(function, exact=True)
        entry = table.find(code)
        counted = code if entry is None else entry.code
        key = id(counted)
        self._keys[id(code)] = key, code
        if key in self._codes:
            return
        self._codes[key] = counted
        self._sums[key] = {}
        if self._before is not None:
            self._before[key] = _read(counted)

    def open(self) -> None:
        global _resting
        if _resting is self._reference:
            _resting = None  # continues where it left off
        engine.engine_enable()
        if self._before is None:
            _core.lines_sync()
            self._before = {key: _read(code) for key, code in self._codes.items()}
        self._running_before = self._running()

    def close(self) -> None:
        global _resting
        before = self._running_before
        self._unfinished += [
            place for frame, place in self._running().items() if before.get(frame) != place
        ]
        engine.engine_disable()
        if engine.is_enabled():
            self.settle()
        else:
            _resting = self._reference

    def settle(self) -> None:
        """End the interval: add what was counted in it to the sums."""
        global _resting
        if _resting is self._reference:
            _resting = None
        self._sums = dict(self.counts())
        self._before = None
        self._unfinished = []

    def counts(self) -> list[tuple[int, Counts]]:
        """Everything counted so far, by the key of the code."""
        if self._before is None:
            return list(self._sums.items())
        _core.lines_sync()
        return [
            (key, _added(self._sums[key], self._interval(key, code)))
            for key, code in self._codes.items()
        ]

    def code(self, key: int) -> CodeType:
        return self._codes[key]

    def _interval(self, key: int, code: CodeType) -> Counts:
        before = (self._before or {}).get(key, {})
        found: Counts = {}
        for line, (hits, ticks) in _read(code).items():
            hits_before, ticks_before = before.get(line, (0, 0))
            hits -= hits_before + self._unfinished.count((key, line))
            if hits > 0:
                found[line] = hits, ticks - ticks_before
        return found

    def _running(self) -> Running:
        """The lines of our functions that this thread is currently running."""
        found: Running = {}
        frame: FrameType | None = sys._getframe() if _core.lines_depth() else None
        while frame is not None:
            known = self._keys.get(id(frame.f_code))
            if known is not None:
                found[id(frame)] = known[0], frame.f_lineno
            frame = frame.f_back
        return found


def _read(code: CodeType) -> Counts:
    return {line: (hits, ticks) for line, hits, ticks, _ in _core.lines_read(code)}


def _added(sums: Counts, more: Counts) -> Counts:
    total = dict(sums)
    for line, (hits, ticks) in more.items():
        hits_before, ticks_before = total.get(line, (0, 0))
        total[line] = hits_before + hits, ticks_before + ticks
    return total
