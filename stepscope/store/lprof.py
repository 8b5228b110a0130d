"""The .lprof file: a pickle of line_profiler's LineStats, written and read without line_profiler.

The pickle names the class by its path, so opening it needs line_profiler and writing it
does not. `line_profiler._line_profiler.LineStats` is the path that versions 3, 4 and 5 all have.
Reading admits that class (under its old and new paths, and ours) and plain containers, nothing
else.
"""

import os
import pickle
from typing import Final

from stepscope.errors import DataError
from stepscope.store.plain_pickle import WantsMore, read_plain_pickle

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


_OLD_WAYS: Final = {  # what pickle's oldest protocols make objects with
    ("copy_reg", "_reconstructor"),
    ("copyreg", "_reconstructor"),
    ("__builtin__", "object"),
    ("builtins", "object"),
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
        stats = read_plain_pickle(content, "an .lprof file", _KNOWN_AS | _OLD_WAYS)
        return stats["timings"], float(stats["unit"])
    except WantsMore as error:
        raise pickle.UnpicklingError(str(error)) from error
    except (DataError, IndexError, KeyError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError("these are not line_profiler's statistics") from error


def read(path: str | os.PathLike[str]) -> tuple[Timings, float]:
    with open(path, "rb") as file:
        return decode(file.read())
