"""Keeps torch's own profiler from writing to the script's stderr while it works for us.

1. Kineto prints a line at each start and stop. Its level is an exported variable that its first
   use sets from KINETO_LOG_LEVEL: raised for the moment and put back, the script's own profiler
   prints what it always does.
2. The first of each 1,000 frees of memory that was allocated before the profiling started gives a
   warning. We do the first one ourselves, with warnings off for that moment.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Any, Final

from stepscope.signal_handlers import let_pass

_SILENT: Final = 6  # a level of Kineto above all messages
_ERRORS_ONLY: Final = 2  # a level of c10
_KINETO_LEVEL: Final = ("libtorch_cpu.so", "_ZN9libkineto6Logger14severityLevel_E")
_TORCH_LEVEL: Final = ("libc10.so", "FLAGS_caffe2_log_level")
_VARIABLE: Final = "KINETO_LOG_LEVEL"


class Quiet:
    def __init__(self, torch: Any) -> None:
        folder = os.path.join(os.path.dirname(torch.__file__), "lib")
        self._kineto = _variable(folder, *_KINETO_LEVEL)
        self._torch = _variable(folder, *_TORCH_LEVEL)

    @property
    def can_hide_unknown_frees(self) -> bool:
        return self._torch is not None

    @contextlib.contextmanager
    def first_use(self) -> Iterator[None]:
        """Without the variable only the environment could set the level, and that is permanent."""
        if self._kineto is not None or _VARIABLE in os.environ:
            yield
            return
        os.environ[_VARIABLE] = str(_SILENT)
        try:
            yield
        finally:
            os.environ.pop(_VARIABLE, None)

    @contextlib.contextmanager
    def kineto(self) -> Iterator[None]:
        with _set_to(self._kineto, _SILENT):
            yield

    @contextlib.contextmanager
    def torch(self) -> Iterator[None]:
        with _set_to(self._torch, _ERRORS_ONLY):
            yield


def _variable(folder: str, library: str, name: str) -> Any:
    try:
        return ctypes.c_int.in_dll(ctypes.CDLL(os.path.join(folder, library)), name)
    except (OSError, ValueError, AttributeError) as error:
        let_pass(error)
        return None


@contextlib.contextmanager
def _set_to(variable: Any, level: int) -> Iterator[None]:
    if variable is None or variable.value >= level:
        yield
        return
    before = variable.value
    variable.value = level
    try:
        yield
    finally:
        variable.value = before
