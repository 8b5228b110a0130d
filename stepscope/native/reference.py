"""The logic of the C engines in slow, plain Python, for the tests to compare with.

`SampleRecorder` takes the same samples as `_core.samples_feed`.
`LineEngine` takes the same events as `_core.feed`; `trace` drives it with sys.settrace, so that
whole programs can be counted by it. `CallEngine` takes those of `_core.calls_feed`.
`ticks_to_ns` is the clock's conversion.
"""

import dataclasses
import itertools
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

LINE, EXIT, CHANGED, RESUME = range(4)


@dataclasses.dataclass
class _Line:
    hits: int = 0
    ticks: int = 0


@dataclasses.dataclass
class _Activation:
    frame: int
    code: CodeType
    current: _Line
    since: int
    line: int = 0


class LineEngine:
    """Hits and inclusive time of every line of the registered code."""

    def __init__(self) -> None:
        self._lines: dict[CodeType, dict[int, _Line]] = {}
        self._calls: dict[CodeType, int] = {}
        self._stack: list[_Activation] = []
        # While it is a list: (ticks, code, line) of every line that begins or continues.
        self.log: list[tuple[int, CodeType | None, int]] | None = None

    def register(self, code: CodeType) -> None:
        self._lines[code] = {}
        self._calls[code] = 0

    def feed(self, kind: int, frame: int, code: CodeType, line: int, ticks: int) -> None:
        if code not in self._lines:
            return
        if kind == EXIT:
            self._exit(frame, code, ticks)
        elif kind == RESUME:
            resumed = self._enter(frame, code, ticks)
            resumed.current, resumed.line = self._line(code, line), line
            self._log(ticks)
        else:
            self._begin_line(kind, frame, code, line, ticks)

    def _begin_line(self, kind: int, frame: int, code: CodeType, line: int, ticks: int) -> None:
        entry = self._line(code, line)
        top = self._stack[-1] if self._stack else None
        if top is None or (top.frame, top.code) != (frame, code):
            top = self._enter(frame, code, ticks)
            self._calls[code] += 1
        elif kind == CHANGED and top.current is entry:
            return
        top.current.ticks += ticks - top.since
        top.current, top.since, top.line = entry, ticks, line
        entry.hits += 1
        self._log(ticks)

    def _enter(self, frame: int, code: CodeType, ticks: int) -> _Activation:
        self._stack.append(_Activation(frame, code, _Line(), ticks))
        return self._stack[-1]

    def _exit(self, frame: int, code: CodeType, ticks: int) -> None:
        """The frame's activation ends; those above it ended unseen and get no time."""
        for depth in range(len(self._stack) - 1, -1, -1):
            activation = self._stack[depth]
            if (activation.frame, activation.code) == (frame, code):
                activation.current.ticks += ticks - activation.since
                del self._stack[depth:]
                self._log(ticks)
                return

    def _log(self, ticks: int) -> None:
        """What runs from now on: the innermost activation's line."""
        if self.log is not None:
            top = self._stack[-1] if self._stack else None
            self.log.append((ticks, top.code, top.line) if top else (ticks, None, 0))

    def _line(self, code: CodeType, line: int) -> _Line:
        return self._lines[code].setdefault(line, _Line())

    def read(self, code: CodeType) -> list[tuple[int, int, int]]:
        """(line, hits, ticks) of every line that was hit."""
        found = sorted(self._lines[code].items())
        return [
            (line, entry.hits, entry.ticks) for line, entry in found if entry.hits or entry.ticks
        ]

    def calls(self, code: CodeType) -> int:
        return self._calls[code]


@dataclasses.dataclass
class CallNode:
    """A function as called along one path."""

    function: int
    parent: "CallNode | None"
    calls: int = 0
    ticks: int = 0
    children: dict[int, "CallNode"] = dataclasses.field(default_factory=dict)


class CallEngine:
    """Calls and inclusive time of every function, by the path of its callers."""

    def __init__(self) -> None:
        self.root = CallNode(0, None)
        self._open: list[tuple[CallNode, int]] = []  # with the ticks at which they began

    def feed(self, entering: bool, function: int, ticks: int) -> None:
        if entering:
            self._open.append((self._call(function), ticks))
        else:
            self._leave(function, ticks)

    def _call(self, function: int) -> CallNode:
        top = self._open[-1][0] if self._open else self.root
        node = top.children.setdefault(function, CallNode(function, top))
        node.calls += 1
        return node

    def _leave(self, function: int, ticks: int) -> None:
        """Calls above it have ended by now. One that never began still counts, unless it may
        have begun before all of this."""
        depths = [depth for depth, (node, _) in enumerate(self._open) if node.function == function]
        if not depths:
            if self._open:
                self._call(function)
            return
        for node, began in self._open[depths[-1] :]:
            node.ticks += ticks - began
        del self._open[depths[-1] :]

    def read(self) -> dict[tuple[int, ...], tuple[int, int]]:
        """Path of functions, outermost first, to (calls, ticks)."""
        found: dict[tuple[int, ...], tuple[int, int]] = {}
        waiting: list[tuple[tuple[int, ...], CallNode]] = [((), self.root)]
        while waiting:
            path, node = waiting.pop()
            for function, child in node.children.items():
                found[*path, function] = child.calls, child.ticks
                waiting.append(((*path, function), child))
        return found


def trace(engine: LineEngine, call: Callable[[], Any], clock: Callable[[], int]) -> Any:
    """Run `call` with every line of registered code counted by sys.settrace."""

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_event if frame.f_code in engine._lines else None

    def on_event(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            engine.feed(LINE, id(frame), frame.f_code, frame.f_lineno, clock())
        elif event == "return":
            engine.feed(EXIT, id(frame), frame.f_code, 0, clock())
        return on_event

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        return call()
    finally:
        sys.settrace(before)


def ticks_to_ns(triples: Sequence[tuple[int, int]], ticks: int) -> float:
    """Monotonic ns of a tick: linear between the (ticks, ns) pairs around it, beyond the ends as
    in the nearest segment."""
    if len(triples) == 1:
        return float(triples[0][1] + ticks - triples[0][0])
    for (ticks0, ns0), (ticks1, ns1) in itertools.pairwise(triples):
        if ticks <= ticks1 or (ticks1, ns1) == tuple(triples[-1]):
            return ns0 + (ticks - ticks0) * (ns1 - ns0) / (ticks1 - ticks0)
    raise AssertionError("there is always a last segment")


class SampleRecorder:
    """The records of samples.bin, numbered from 1: nodes as (function, parent, line), samples as
    [thread, node, count, start, weight, kind]."""

    def __init__(self) -> None:
        self.records: list[tuple[int, int, int] | list[int]] = []
        self._nodes: dict[tuple[int, int, int], int] = {}
        self._last: dict[int, list[int]] = {}

    def feed(
        self, thread: int, stack: tuple[tuple[int, int], ...], start: int, weight: int, kind: int
    ) -> None:
        node = 0
        for function, line in stack:
            node = self._node((function, node, line))
        last = self._last.get(thread)
        follows = last is not None and last[3] + last[4] == start
        if last is not None and follows and (last[1], last[5]) == (node, kind):
            last[2] += 1
            last[4] += weight
            return
        self._last[thread] = [thread, node, 1, start, weight, kind]
        self.records.append(self._last[thread])

    def _node(self, node: tuple[int, int, int]) -> int:
        if node not in self._nodes:
            self.records.append(node)
            self._nodes[node] = len(self.records)
        return self._nodes[node]
