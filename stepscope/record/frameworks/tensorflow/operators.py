"""TensorFlow: operators are recorded in windows, under its own profiler.

There is one profiler per process: the script's own goes first.
"""

import sys
from typing import Any, Final

from stepscope.record.frameworks.tensorflow.quiet_profiler import Quiet
from stepscope.record.frameworks.watching import current_work, running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows.wanted import are_operators_wanted
from stepscope.record.frameworks.windows.xplane_scripts_profiler import ScriptsOwn
from stepscope.record.frameworks.windows.xplane_windows import XplaneWindows
from stepscope.record.steps import step_counter

_STEPS: Final = 3
_STEPS_OF_FIT: Final = 10  # they are short, and fetch their input inside
_LIBRARY: Final = "tensorflow.python.profiler.profiler_v2"
_OFFERED: Final = "tensorflow._api.v2.profiler.experimental"
_CONTEXT: Final = "tensorflow.python.eager.context"
_AMONG_WORKERS: Final = (
    "TensorFlow's profiler crashes some processes that are part of a cluster (TF_CONFIG)."
)


def install(tensorflow: Any, patches: Patches) -> None:
    if _LIBRARY in sys.modules:
        running_recording.when_running(lambda recording: _begin(tensorflow, patches, recording))


def _begin(tensorflow: Any, patches: Patches, recording: RunningRecording) -> None:
    if not are_operators_wanted(recording):
        return
    library = sys.modules[_LIBRARY]
    windows = XplaneWindows(recording, _Profiler(tensorflow, library), _least_steps)
    patches.on_undo(_forget)
    _give_way(library, windows, patches)
    step_counter.listen(windows.step_ended)
    current_work.on_work = windows.worked
    current_work.on_trace = windows.compiled
    if recording.options.ops != "auto":  # it may be asked for from the first step on
        current_work.on_begin = windows.worked
    running_recording.before_end(windows.finish)


def _least_steps() -> int:
    return _STEPS_OF_FIT if current_work.here.has_fitted else _STEPS


def _forget() -> None:
    current_work.on_work = current_work.on_trace = current_work.on_begin = None
    current_work.here.has_fitted = False


class _Profiler:
    """TensorFlow's, without a trace of the Python calls: the lines show those."""

    def __init__(self, tensorflow: Any, library: Any) -> None:
        self._quiet = Quiet(tensorflow)
        self._start, self._stop = library.start, library.stop
        self._options = library.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)

    def danger(self) -> str | None:
        """Seen with 2.21, without us too: stopping it ends one process in ten (SIGABRT)."""
        context = sys.modules[_CONTEXT].context_safe()
        is_among_others = context is not None and (
            getattr(context, "_collective_ops_server_def", None) is not None
            or getattr(context, "_server_def", None) is not None
        )
        return _AMONG_WORKERS if is_among_others else None

    def start(self, folder: str) -> None:
        with self._quiet.profiler():
            self._start(folder, self._options)

    def stop(self, *, keep: bool) -> None:
        with self._quiet.profiler():
            self._stop(save=keep)


def _give_way(library: Any, windows: XplaneWindows, patches: Patches) -> None:
    """The context manager `Profile` and Keras' callback for TensorBoard call these as well."""
    own = ScriptsOwn(windows, lambda: library._profiler is not None)
    offered, served = sys.modules.get(_OFFERED), sys.modules.get(f"{_OFFERED}.server")
    own.around(patches, (library, offered), "start", library.start, own.starts, own.started)
    own.around(patches, (library, offered), "stop", library.stop, None, own.stopped)
    serve = library.start_server
    own.around(patches, (library,), "start_server", serve, own.serves)
    own.around(patches, (served,), "start", serve, own.serves)
