"""One window under torch's own profiler, which writes its trace into the process's folder.

Opened and closed on the main thread only: torch crashes (SIGSEGV) when a profiler is stopped from
another thread, is left open at the exit, or watches all threads while they run.
"""

import os
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch.quiet_profiler import Quiet
from stepscope.record.frameworks.windows.window_events import log_lines, mark, ours
from stepscope.store.format import OPS_FILE
from stepscope.store.plain_files import remove

_BYTES_AN_EVENT: Final = 400  # of the trace, with shapes
_MOST_KNOWN_TENSORS: Final = 800  # more may be freed than one hidden warning covers


def path_in(folder: str, number: int) -> str:
    return os.path.join(folder, OPS_FILE.format(number=number, ending="json"))


class Window:
    """`open`, then `close`; after that it knows about how many events it holds."""

    def __init__(self, torch: Any, quiet: Quiet, path: str) -> None:
        self._torch = torch
        self._quiet = quiet
        self.path = path
        self._profiler: Any = None
        self.start_ticks = 0
        self.events = 0

    def open(self, on_line: Callable[[], None], until: int, tensors: int) -> None:
        """`on_line`, `until`: see `log_lines`. `tensors`: how many a step is known to free at
        most."""
        with ours("operator window: start"):
            memory = self._quiet.can_hide_unknown_frees and tensors <= _MOST_KNOWN_TENSORS
            # Allocated before, freed inside: torch does not know its size.
            unknown = self._torch.empty(1) if memory else None
            # The one that torch.profiler uses: importing that takes seconds, for torch's compiler.
            profiler = self._torch.autograd.profiler.profile(
                use_device=_device(self._torch),
                record_shapes=True,
                profile_memory=memory,
                use_kineto=True,
                experimental_config=_config(self._torch),
            )
            with self._quiet.first_use():
                profiler._prepare_trace()
            with self._quiet.kineto():
                profiler._start_trace()
            self._profiler = profiler
            try:
                with self._quiet.torch():
                    del unknown
                log_lines(until, on_line)
                _core.forward_modules(True)
            except BaseException:
                self.close(keep=False)  # left open it would crash the process
                raise
        self.start_ticks = _core.ticks()

    def close(self, *, keep: bool) -> None:
        """Stop, and write the trace if it is wanted."""
        profiler, self._profiler = self._profiler, None
        end_ticks = _core.ticks()
        _core.lines_log(0)
        _core.forward_modules(False)
        with ours("operator window: end"), self._quiet.kineto():
            profiler.__exit__(None, None, None)
            if keep:
                self._write(profiler)
            mark(self.path, self.start_ticks, end_ticks)
            del profiler  # its events take milliseconds to free

    def _write(self, profiler: Any) -> None:
        unfinished = f"{self.path}.{os.getpid()}"
        profiler.export_chrome_trace(unfinished)
        self.events = os.path.getsize(unfinished) // _BYTES_AN_EVENT
        os.replace(unfinished, self.path)

    def forget(self) -> None:
        """Delete what it recorded."""
        remove(self.path)


def _device(torch: Any) -> str | None:
    """Only if the script has begun to use it: asking would initialize it."""
    there = torch.autograd._supported_activities()
    for name, kind in (("cuda", "CUDA"), ("xpu", "XPU")):
        is_initialized = getattr(getattr(torch, name, None), "is_initialized", None)
        is_there = getattr(torch.autograd.ProfilerActivity, kind, None) in there
        if is_there and is_initialized is not None and is_initialized():
            return name
    return None


def _config(torch: Any) -> Any:
    """`trace_only`: no event objects for Python, which take as long as the rest of stopping."""
    make = getattr(torch._C._profiler, "_ExperimentalConfig", None)
    if make is None:
        return None
    try:
        return make(trace_only=True)
    except TypeError:
        return make()
