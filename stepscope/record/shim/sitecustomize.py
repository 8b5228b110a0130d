"""Python's `site` imports this at start-up when `stepscope run` put its folder on PYTHONPATH.

It starts recording and then gets out of the way: the user's own sitecustomize, if there is one,
replaces it. Old syntax on purpose: any Python may be started in this environment.
"""

import os
import sys

_OLDEST = (3, 11)


def _leave_the_path():
    """The script must see the sys.path it would have without us."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    sys.path_importer_cache.pop(here, None)


def _is_main_interpreter():
    """Python 3.12 and later say so; before, our native core refuses to be loaded by another one."""
    import _thread  # built in, and loaded by now

    return getattr(_thread, "_is_main_interpreter", lambda: True)()


def _start():
    """Whatever fails in here costs the profile and never the training."""
    home = os.environ.get("STEPSCOPE_HOME", "")
    if (
        not _is_main_interpreter()
        or not home
        or not os.environ.get("STEPSCOPE_RUN")
        or sys.version_info[:2] < _OLDEST
    ):
        return
    loaded_before = set(sys.modules)
    on_path_before = home in sys.path_importer_cache
    sys.path.insert(0, home)
    try:
        from stepscope.record import boot
    finally:
        sys.path.remove(home)
        if not on_path_before:
            sys.path_importer_cache.pop(home, None)
    boot.start_from_environment(loaded_before)


_leave_the_path()
try:
    _start()
except Exception as _trouble:
    if sys.stderr is not None:  # it may have been closed
        sys.stderr.write("stepscope: not recording this process: %r\n" % (_trouble,))

# From here on as if this file were not there: if the user has no sitecustomize this raises
# ImportError, as `site` expects, and otherwise sys.modules holds the user's.
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
