"""The .lprof files of line_profiler and kernprof."""

import pickle
from pathlib import Path

from stepscope.errors import DataError
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Frame, FunctionLines, Trace, no_trace
from stepscope.importers.unzip import read_whole
from stepscope.store import lprof

_MOST_NS = 2**60
_MOST_LINE = 10_000_000


@register
class Lprof(Importer):
    label = "line_profiler's lines"
    endings = (".lprof",)

    def recognises(self, head: bytes) -> bool:
        return b"LineStats" in head[:200]

    def read(self, path: Path) -> Trace:
        try:
            timings, unit_s = lprof.decode(read_whole(path)[0])
            lines = [_function(*key, rows, unit_s * 1e9) for key, rows in timings.items()]
        except pickle.UnpicklingError as error:
            raise DataError(f"'{path}' cannot be read: {error}.") from error
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"'{path}' is not what line_profiler writes.") from error
        return no_trace(path, line_times=lines)


def _function(
    file: str, first_line: int, name: str, rows: list[tuple[int, int, int]], unit_ns: float
) -> FunctionLines:
    kept = [
        (line, min(max(0, hits), 2**53), min(max(0, round(time * unit_ns)), _MOST_NS))
        for line, hits, time in rows
        if 0 < line < _MOST_LINE
    ]
    return FunctionLines(Frame(str(file), min(max(0, first_line), _MOST_LINE), str(name)), kept)
