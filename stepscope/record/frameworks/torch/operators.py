"""PyTorch: operators are recorded in windows, under torch's own profiler."""

import functools
import sys
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch import scripts_profiler
from stepscope.record.frameworks.torch.windows import Windows
from stepscope.record.frameworks.watching import running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.frameworks.windows.wanted import are_operators_wanted
from stepscope.record.steps import step_counter

_COMPILES: Final = "torch._dynamo.callback"

_windows: Windows | None = None


def install(module: Any, patches: Patches) -> None:
    if module.__name__ == _COMPILES:
        _watch_compilations(patches)
    else:
        running_recording.when_running(lambda recording: _begin(module, patches, recording))


def _begin(torch: Any, patches: Patches, recording: RunningRecording) -> None:
    global _windows
    if not are_operators_wanted(recording):
        return
    _windows = windows = Windows(torch, recording)
    patches.on_undo(_forget)
    scripts_profiler.install(torch, patches, windows)
    step_counter.listen(windows.step_ended)
    _core.on_forward(windows.forward_begins)
    _core.on_optimizer(windows.optimizer_stepped)
    patches.on_undo(windows.current.discard_at_next_step)
    _watch_compile(torch, patches, windows)
    _watch_compilations(patches)
    running_recording.before_end(windows.finish)
    windows.begin()


def _forget() -> None:
    global _windows
    _windows = None
    _core.on_forward(None)
    _core.on_optimizer(None)


def gives_way() -> bool:
    """Whether torch's profiler, if it is running, is ours: it ends when another one begins."""
    return _windows is not None and not _windows.current.foreign


def _watch_compile(torch: Any, patches: Patches, windows: Windows) -> None:
    compile_ = torch.compile

    @functools.wraps(compile_)
    def compile(*args: Any, **kwargs: Any) -> Any:
        windows.compiles()
        try:
            return compile_(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise

    patches.set(torch, "compile", compile)


def _watch_compilations(patches: Patches) -> None:
    if _windows is None or _COMPILES not in sys.modules:
        return
    handler = sys.modules[_COMPILES].callback_handler
    give_way = _windows.compilation_begins
    handler.register_start_callback(give_way)

    def remove() -> None:
        if give_way in handler.start_callbacks:  # the script may have cleared them
            handler.remove_start_callback(give_way)

    patches.on_undo(remove)
