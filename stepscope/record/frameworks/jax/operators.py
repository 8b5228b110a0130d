"""JAX: operators are recorded in windows, under its own profiler; the script's own goes first."""

import os
import sys
from typing import Any, Final

from stepscope.record.frameworks.jax import compilation, jitted_functions
from stepscope.record.frameworks.watching import running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows.wanted import are_operators_wanted
from stepscope.record.frameworks.windows.xplane_scripts_profiler import ScriptsOwn
from stepscope.record.frameworks.windows.xplane_windows import XplaneWindows
from stepscope.record.steps import step_counter
from stepscope.signal_handlers import let_pass, suppressed
from stepscope.store.plain_files import make_new_folder
from stepscope.store.writer import write_file

_STEPS: Final = 3
_LIBRARY: Final = "jax._src.profiler"
_OFFERED: Final = "jax.profiler"


def install(_jax: Any, patches: Patches) -> None:
    if _LIBRARY in sys.modules:
        running_recording.when_running(lambda recording: _begin(patches, recording))


def _begin(patches: Patches, recording: RunningRecording) -> None:
    if not are_operators_wanted(recording):
        return
    library = sys.modules[_LIBRARY]
    windows = XplaneWindows(recording, _Profiler(library), lambda: _STEPS)
    patches.on_undo(_forget)
    _give_way(library, windows, patches)
    step_counter.listen(windows.step_ended)
    jitted_functions.on_work, compilation.on_compiled = windows.worked, windows.compiled
    if recording.options.ops == "all":
        jitted_functions.on_first_call = windows.worked
    running_recording.before_end(windows.finish)


def _forget() -> None:
    jitted_functions.on_work = jitted_functions.on_first_call = compilation.on_compiled = None


class _Profiler:
    """The layer below `jax.profiler.start_trace`: that would also write a trace for viewers, and
    find the script's own running. Without the Python calls: the lines show those.

    Steps are dispatched before they are computed: pending work is waited for at both ends,
    so that a window has the operators of its own steps."""

    def __init__(self, library: Any) -> None:
        self._native = library._profiler
        self._wait_for = sys.modules["jax._src.api"].block_until_ready
        self._session: Any = None
        self._folder = ""

    def _wait(self) -> None:
        here = compilation.here
        here.is_running, before = True, here.is_running  # the script does not wait here
        try:
            self._wait_for(here.result)
        except Exception as error:
            let_pass(error)
            return  # a computation failed, or the array is deleted: the script will see that
        finally:
            here.is_running = before

    def danger(self) -> str | None:
        return None

    def start(self, folder: str) -> None:
        self._wait()
        options = self._native.ProfileOptions()
        options.python_tracer_level = 0
        self._session, self._folder = self._native.ProfilerSession(options), folder

    def stop(self, *, keep: bool) -> None:
        self._wait()
        session, self._session = self._session, None
        trace = session.stop()
        if keep:
            with suppressed(FileExistsError):
                make_new_folder(self._folder)
            write_file(os.path.join(self._folder, "jax.xplane.pb"), trace)


# --- the script's own -----------------------------------------------------------------------------


def _give_way(library: Any, windows: XplaneWindows, patches: Patches) -> None:
    """The context manager `jax.profiler.trace` calls these as well."""

    def is_running() -> bool:
        return getattr(library._profile_state, "profile_session", None) is not None

    own = ScriptsOwn(windows, is_running)
    hooks = {
        "start_trace": (own.starts, own.started),
        "stop_trace": (None, own.stopped),
        "stop_and_get_fdo_profile": (None, own.stopped),
        "start_server": (own.serves, None),
    }
    for name, (before, after) in hooks.items():
        function = getattr(library, name, None)
        if function is not None:
            owners = library, sys.modules.get(_OFFERED)
            own.around(patches, owners, name, function, before, after)
