"""Keeps TensorFlow's profiler from writing to the script's stderr while it works for us.

It logs each start and stop through Abseil, whose level can be read and set by two functions of
TensorFlow's own library. Their names contain the date of Abseil's version. If none of the known
names exists, the lines stay.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Any, Final

from stepscope.signal_handlers import let_pass

_LIBRARY: Final = "libtensorflow_framework.so.2"
_VERSIONS: Final = (
    "lts_20260107", "lts_20250814", "lts_20250512", "lts_20250127", "lts_20240722", "lts_20240116",
    "lts_20230802", "lts_20230125",
)  # fmt: skip
_ERRORS_ONLY: Final = 2  # a level of Abseil


class Quiet:
    def __init__(self, tensorflow: Any) -> None:
        folder = os.path.dirname(tensorflow.__file__ or "")
        self._level, self._set_level = _functions(os.path.join(folder, _LIBRARY))

    @contextlib.contextmanager
    def profiler(self) -> Iterator[None]:
        before = self._level() if self._level is not None else _ERRORS_ONLY
        if before >= _ERRORS_ONLY:
            yield
            return
        self._set_level(_ERRORS_ONLY)
        try:
            yield
        finally:
            self._set_level(before)


def _functions(path: str) -> tuple[Any, Any]:
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        let_pass(error)
        return None, None
    for version in _VERSIONS:
        prefix = f"_ZN4absl{len(version)}{version}"
        try:
            level = library[f"{prefix}11MinLogLevelEv"]
            set_level = library[f"{prefix}14SetMinLogLevelENS0_18LogSeverityAtLeastE"]
        except AttributeError:
            continue
        level.restype, set_level.argtypes, set_level.restype = ctypes.c_int, [ctypes.c_int], None
        return level, set_level
    return None, None
