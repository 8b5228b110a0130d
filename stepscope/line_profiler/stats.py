"""Line statistics: how often and how long each line ran; added, written, read, printed."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TextIO

from stepscope.store import lprof

Key = tuple[str, int, str]  # file, first line, qualified name
Row = tuple[int, int, int]  # line, hits, time in units


class HasTimings(Protocol):
    """Ours and line_profiler's own statistics alike."""

    @property
    def timings(self) -> Mapping[Key, Sequence[Row]]: ...
    @property
    def unit(self) -> float: ...


class LineStats:
    """`timings` maps (file, first line, function) to [(line, hits, time)]; `unit` is in seconds."""

    def __init__(self, timings: Mapping[Key, Sequence[Row]], unit: float) -> None:
        self.timings = {key: list(rows) for key, rows in timings.items()}
        self.unit = unit

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.timings}, {self.unit:.2G})"

    def __eq__(self, other: object) -> bool:
        if not hasattr(other, "timings") or not hasattr(other, "unit"):
            return NotImplemented
        return bool(self.timings == other.timings and self.unit == other.unit)

    __hash__ = None  # type: ignore[assignment]  # mutable, and equal by content

    def __add__(self, other: HasTimings) -> "LineStats":
        return self.from_stats_objects(self, other)

    def __iadd__(self, other: HasTimings) -> "LineStats":
        both = self.from_stats_objects(self, other)
        self.timings, self.unit = both.timings, both.unit
        return self

    @classmethod
    def from_stats_objects(cls, first: HasTimings, /, *others: HasTimings) -> "LineStats":
        """The sum, in the coarsest unit of all."""
        if not others:
            return cls(first.timings, first.unit)
        stats = (first, *others)
        unit = max(one.unit for one in stats)
        sums: dict[Key, dict[int, tuple[int, float]]] = {}
        for one in stats:
            for key, rows in one.timings.items():
                _add(sums.setdefault(key, {}), rows, scale=one.unit / unit)
        return cls({key: _rows(lines) for key, lines in sums.items()}, unit)

    @classmethod
    def from_files(
        cls, first: str | os.PathLike[str], /, *others: str | os.PathLike[str]
    ) -> "LineStats":
        """Reads .lprof files, ours and line_profiler's; nothing in them is executed."""
        return cls.from_stats_objects(*(cls(*lprof.read(path)) for path in (first, *others)))

    def to_file(self, filename: str | os.PathLike[str]) -> None:
        """An .lprof file, for `python -m line_profiler`."""
        content = lprof.encode(self.timings, self.unit)
        with open(filename, "wb") as file:
            file.write(content)

    def print(self, stream: TextIO | None = None, **options: Any) -> None:
        """Same as `LineProfiler.print_stats`."""
        from stepscope.line_profiler.text import Layout, show_text

        show_text(self.timings, self.unit, Layout(**options), stream)


load_stats = LineStats.from_files


def _add(lines: dict[int, tuple[int, float]], rows: Sequence[Row], *, scale: float) -> None:
    for line, hits, time in rows:
        hits_before, time_before = lines.get(line, (0, 0.0))
        lines[line] = hits_before + hits, time_before + scale * time


def _rows(lines: Mapping[int, tuple[int, float]]) -> list[Row]:
    return [(line, hits, round(time)) for line, (hits, time) in sorted(lines.items())]
