"""Runs programs and counts their lines: with ticks, with a trace function, with line_profiler."""

import builtins
import collections
import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from stepscope.record.bytecode.instrument import instrument
from stepscope.record.bytecode.ticked import Instrumented, bind

PROGRAMS = Path(__file__).parent.parent / "programs" / "lines"

Place = tuple[str, str, int, int]  # file, function, its first line, line
Counts = collections.Counter[Place]
Transform = Callable[[CodeType], CodeType]


def place(code: CodeType, line: int) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno, line


def programs() -> list[Path]:
    return sorted(PROGRAMS.glob("*.py"))


def run(path: Path, transform: Transform) -> str:
    """Execute the program with every code object transformed; returns what it printed."""

    def execute(source: str | CodeType, space: dict[str, Any]) -> None:
        made = f"{path} <made>"
        code = source if isinstance(source, CodeType) else compile(source, made, "exec")
        builtins.exec(transform(code), space)

    space = {"__name__": "__main__", "__file__": str(path), "exec": execute}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        execute(compile(path.read_text(), str(path), "exec"), space)
    return printed.getvalue()


class Tick:
    """Counts like the native tick."""

    def __init__(self, engine: "Ticks", code: CodeType, kind: int, line: int) -> None:
        self._engine, self._code, self._kind, self._line = engine, code, kind, line

    def __invert__(self) -> None:
        self._engine.tick(sys._getframe(1), self._code, self._kind, self._line)


class Ticks:
    """Counts line ticks, and keeps the activations to check that each ends as often as it began."""

    def __init__(self) -> None:
        self.hits: Counts = collections.Counter()
        self.running: dict[FrameType, int] = {}
        self.skipped: list[str] = []
        self.wrong: list[str] = []

    def tick(self, frame: FrameType, code: CodeType, kind: int, line: int) -> None:
        if kind == 1:
            self.running.pop(frame, None)
            return
        if kind == 0:
            self.hits[place(code, line)] += 1
        elif frame in self.running:
            self.wrong.append(f"{code.co_qualname}:{line} resumed while it runs")
        if frame.f_lineno not in (line, None):
            self.wrong.append(f"{code.co_qualname}:{line} but f_lineno {frame.f_lineno}")
        self.running[frame] = line

    def make(self, code: CodeType, kind: int, line: int) -> Tick:
        return Tick(self, code, kind, line)

    def transform(self, code: CodeType) -> CodeType:
        made = instrument(code)
        self.skipped += made.skipped
        return self.bind(made)

    def bind(self, made: Instrumented) -> CodeType:
        return bind(made, self.make, lambda *what: True)


@contextlib.contextmanager
def traced(wanted: Callable[[CodeType], bool]) -> Iterator[Counts]:
    """Count the line events that Python's own tracing gives."""
    hits: Counts = collections.Counter()

    def local(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            hits[place(frame.f_code, frame.f_lineno)] += 1
        return local

    def entered(frame: FrameType, event: str, argument: object) -> Any:
        return local if wanted(frame.f_code) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield hits
    finally:
        sys.settrace(before)


def difference(ours: Counts, theirs: Counts) -> dict[Place, tuple[int, int]]:
    places = ours.keys() | theirs.keys()
    return {p: (ours[p], theirs[p]) for p in sorted(places) if ours[p] != theirs[p]}
