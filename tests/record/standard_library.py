"""Runs tests of the standard library with ticks and tracing at once, and compares the two.

python standard_library.py test_generators test_with
"""

import importlib.machinery
import io
import sys
import unittest
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import bytecode  # noqa: F401  before the modules that it needs get ticks

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]

from record.line_counts import Counts, Ticks, difference, place  # noqa: E402
from stepscope.record.bytecode.ticked import Instrumented, bind  # noqa: E402

LIBRARY = ("contextlib", "json", "configparser", "dataclasses", "traceback", "functools")
# What sets a trace function itself, or runs into the recursion limit (our stand-in for a tick is a
# Python call, the real one is not).
NOT_COMPARABLE = ("_trace", "Trace", "recursi", "long_context_chain", "EndlessJSONEncoder")

hits: Counts = Counts()
with_ticks: dict[int, CodeType] = {}


def count(frame: FrameType, event: str, argument: object) -> Any:
    if event == "line":
        hits[place(frame.f_code, frame.f_lineno)] += 1
    return count


def enter(frame: FrameType, event: str, argument: object) -> Any:
    return count if id(frame.f_code) in with_ticks else None


class TracedTicks(Ticks):
    """Counts only where tracing counts too: not in code that runs while a test has it off."""

    def tick(self, frame: FrameType, code: CodeType, kind: int, line: int) -> None:
        if kind or (sys.gettrace() is enter and frame.f_trace is count):
            super().tick(frame, code, kind, line)

    def bind(self, made: Instrumented) -> CodeType:
        def keep(new: CodeType, *_: object) -> bool:
            with_ticks[id(new)] = new
            return True

        return bind(made, self.make, keep)


ticks = TracedTicks()
get_code = importlib.machinery.SourceFileLoader.get_code


def get_code_with_ticks(loader: Any, name: str) -> CodeType | None:
    code = get_code(loader, name)
    wanted = name.startswith(("test.test_", *(f"{part}." for part in LIBRARY))) or name in LIBRARY
    return ticks.transform(code) if wanted and code is not None else code


def main(suites: list[str]) -> int:
    for name in [name for name in sys.modules if name.partition(".")[0] in LIBRARY]:
        del sys.modules[name]
    loader: Any = importlib.machinery.SourceFileLoader
    loader.get_code = get_code_with_ticks
    for suite in suites:
        sys.settrace(enter)
        tests = unittest.defaultTestLoader.loadTestsFromName(f"test.{suite}")
        ran = unittest.TextTestRunner(stream=io.StringIO()).run(tests).testsRun
        sys.settrace(None)
        print(f"{suite}: {ran} tests")
    different = {
        where: counts
        for where, counts in difference(ticks.hits, hits).items()
        if not any(word in where[1] for word in NOT_COMPARABLE)
    }
    print(f"{len(hits)} lines, {sum(hits.values())} hits, different: {different}")
    return 1 if different or ticks.skipped or len(hits) < 500 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
