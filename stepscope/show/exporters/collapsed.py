"""Collapsed stacks, for flamegraph.pl, inferno and speedscope.

One line per stack: its functions, outermost first, then its microseconds.
"""

from collections import Counter
from typing import Final

from stepscope.analyze.code.sampled_threads import Frame
from stepscope.analyze.run import Run
from stepscope.show.exporters.threads import threads_of
from stepscope.spelled_out import spelled_out

OPEN_WITH: Final = "flamegraph.pl {path} > flame.svg"
_SEPARATOR: Final = ";"


def export(run: Run, *, process: int | None = None) -> bytes:
    """The stacks of one process; each begins with the name of its thread."""
    time_ns: Counter[str] = Counter()
    for thread in threads_of(run, process):
        for stack, ns in thread.times():
            frames = map(_without_separators, [thread.name, *map(_label, stack)])
            time_ns[_SEPARATOR.join(frames)] += ns
    lines = (f"{stack} {round(ns / 1e3)}\n" for stack, ns in sorted(time_ns.items()))
    return "".join(lines).encode("utf-8", "backslashreplace")


def _label(frame: Frame) -> str:
    """`train (train.py:12)`; native functions have no file and line."""
    return frame.name if frame.file is None else f"{frame.name} ({frame.file}:{frame.line})"


def _without_separators(label: str) -> str:
    """Readers split a line at semicolons and take the number after the last space."""
    return " ".join(spelled_out(label.replace(_SEPARATOR, ":")).split()) or "?"
