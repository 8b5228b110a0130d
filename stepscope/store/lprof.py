"""The .lprof file: a pickle of line_profiler's LineStats, written and read without line_profiler.

The pickle names the class by its path, so opening it needs line_profiler and writing it
does not. `line_profiler._line_profiler.LineStats` is the path that versions 3, 4 and 5 all have.
Reading admits that class (under its old and new paths, and ours) and plain containers, nothing
else.
"""

import io
import os
import pickle
from typing import Any, Final

# {(file, first line, function): [(line, hits, time in units)]}
Timings = dict[tuple[str, int, str], list[tuple[int, int, int]]]

_WRITTEN_AS: Final = b"cline_profiler._line_profiler\nLineStats\n"
_KNOWN_AS: Final = frozenset(
    {
        ("_line_profiler", "LineStats"),
        ("line_profiler._line_profiler", "LineStats"),
        ("line_profiler.line_profiler", "LineStats"),
        ("stepscope.line_profiler.stats", "LineStats"),  # ours, pickled by the user
    }
)


class _Stats:
    """Stands in for LineStats while reading: takes the attributes, runs nothing."""


def _remade(*_: object) -> _Stats:
    """Stands in for what pickle's oldest protocols make objects with."""
    return _Stats()


_OLD_WAYS: Final[dict[tuple[str, str], Any]] = {
    ("copy_reg", "_reconstructor"): _remade,  # by their names in Python 2
    ("__builtin__", "object"): object,
}


def encode(timings: Timings, unit_s: float) -> bytes:
    """The bytes of an .lprof file.

    1. A pickle of the attributes, in protocol 2: no frames, so it can be embedded.
    2. Around it the instructions "make an object of that class, give it these attributes".
    """
    attributes = pickle.dumps({"timings": timings, "unit": unit_s}, protocol=2)
    protocol, body = attributes[:2], attributes[2:-1]  # without its closing STOP
    make_object = _WRITTEN_AS + pickle.EMPTY_TUPLE + pickle.NEWOBJ
    return protocol + make_object + body + pickle.BUILD + pickle.STOP


def decode(content: bytes) -> tuple[Timings, float]:
    """(timings, unit in seconds); pickle.UnpicklingError for anything but line statistics."""
    try:
        stats = _Reader(io.BytesIO(content)).load()
        return stats.timings, float(stats.unit)
    except (AttributeError, EOFError, IndexError, KeyError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError("these are not line_profiler's statistics") from error


def read(path: str | os.PathLike[str]) -> tuple[Timings, float]:
    with open(path, "rb") as file:
        return decode(file.read())


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _KNOWN_AS:
            return _Stats
        if (module, name) in _OLD_WAYS:
            return _OLD_WAYS[module, name]
        raise pickle.UnpicklingError(f"an .lprof file may not contain {module}.{name}")
