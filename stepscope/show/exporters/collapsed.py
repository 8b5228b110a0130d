"""Collapsed stacks: one line a stack, its functions from the outermost inwards, its microseconds.

What flamegraph.pl, inferno and speedscope read.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final

from stepscope.show.exporters.threads import function_label, seen_threads

if TYPE_CHECKING:
    from stepscope.store.reader import Run

OPEN_WITH: Final = "flamegraph.pl {path} > flame.svg"
_SEPARATOR: Final = ";"


def export(run: "Run", *, process: int | None = None) -> bytes:
    """The stacks of one process; each begins with the name of its thread."""
    from stepscope.analyze.code.sampled_stacks import time_by_node

    time_ns: Counter[str] = Counter()
    for found, seen in seen_threads(run, process):
        for node, ns in time_by_node(seen).items():
            labels = [function_label(run, function) for function in found.stack(node)]
            frames = map(_without_separators, [seen.thread.name, *labels])
            time_ns[_SEPARATOR.join(frames)] += ns
    lines = (f"{stack} {round(ns / 1e3)}\n" for stack, ns in sorted(time_ns.items()))
    return "".join(lines).encode("utf-8", "backslashreplace")


def _without_separators(label: str) -> str:
    """A line is split at semicolons, and its number is behind the last space."""
    return " ".join(label.replace(_SEPARATOR, ":").split()) or "?"
