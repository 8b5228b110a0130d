"""The files of cProfile and `pstats`: calls and time of every function, and who called it."""

from pathlib import Path
from typing import Any

from stepscope.errors import DataError
from stepscope.importers.importer import Importer, register
from stepscope.importers.plain_marshal import read_plain_marshal
from stepscope.importers.trace import Counts, Frame, FunctionCalls, Trace, no_trace
from stepscope.importers.unzip import read_whole

_MOST_NS = 2**60  # 36 years: more is damage


@register
class Pstats(Importer):
    label = "cProfile's statistics"
    endings = (".prof", ".pstats", ".pstat", ".cprof", ".cprofile")

    def recognises(self, head: bytes) -> bool:
        """A dictionary whose first key is a tuple."""
        return head[:1] in (b"{", b"\xfb") and head[1:2] in (b"(", b")", b"\xa8", b"\xa9")

    def read(self, path: Path) -> Trace:
        found = read_plain_marshal(read_whole(path)[0], str(path))
        try:
            rows = {_frame(key): row for key, row in found.items()}
            functions = [_function(frame, row) for frame, row in rows.items()]
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"'{path}' is not what cProfile writes.") from error
        return no_trace(path, functions=functions)


def _frame(key: Any) -> Frame:
    file, line, name = key
    return Frame(str(file), min(max(0, int(line)), 2**31), str(name))


def _function(frame: Frame, row: Any) -> FunctionCalls:
    """cProfile puts a function's primitive calls first, but a caller's primitive calls second."""
    primitive, calls, own_s, total_s, callers = row
    return FunctionCalls(
        frame,
        _counts(calls, primitive, own_s, total_s),
        [(_frame(key), _caller(each)) for key, each in callers.items()],
    )


def _caller(each: Any) -> Counts:
    """The oldest files have only how often."""
    if isinstance(each, int):
        return _counts(each, each, 0.0, 0.0)
    return _counts(*each)


def _counts(calls: Any, primitive: Any, own_s: Any, total_s: Any) -> Counts:
    return Counts(int(calls), int(primitive), _ns(own_s), _ns(total_s))


def _ns(seconds: Any) -> int:
    return min(max(0, round(float(seconds) * 1e9)), _MOST_NS)
