"""The checks of `stepscope doctor`, one function each."""

import contextlib
import dataclasses
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from typing import Final, Literal

from stepscope.cli.doctor_questions import answered_and_not
from stepscope.frameworks.table import TESTED_ON_PYTHON as FRAMEWORKS_TESTED_ON
from stepscope.frameworks.table import packages
from stepscope.launch.support import NEWEST, OLDEST, dotted, untested_python

OUR_TOOL_IDS: Final = (3, 4)  # sys.monitoring reserves 0, 1, 2 and 5 for others
WANTED_BYTES: Final = 512 * 2**20  # the default of --max-size
_TRIED_BYTES: Final = 2**20  # a chunk of a file


@dataclasses.dataclass(frozen=True)
class Check:
    """ok: works; limited: works, with less; failed: stepscope cannot record here."""

    name: str
    state: Literal["ok", "limited", "failed"]
    found: str
    advice: str | None = None


def all_checks(folder: str) -> list[Check]:
    return [check for make in CHECKS for check in [make(folder)] if check is not None]


def _platform(folder: str) -> Check | None:
    if sys.platform == "win32":
        advice = "Use the Windows Subsystem for Linux (WSL)."
        return Check("system", "failed", "Windows is not supported.", advice)
    if sys.platform != "linux":
        return Check("system", "limited", f"{sys.platform}: meant to work, tested on Linux.")
    return Check("system", "ok", f"Linux {os.uname().release}")


def _python(folder: str) -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    supported = f"Use Python {dotted(OLDEST)} to {dotted(NEWEST)}"
    if sys.version_info[:2] < OLDEST:
        return Check("python", "failed", f"{version} is not supported.", supported + ".")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        advice = supported + " with the GIL (the build without 't')."
        return Check("python", "failed", f"{version} is a free-threaded build.", advice)
    if untested_python() is not None:
        return Check("python", "limited", f"{version} is newer than our tests.", supported + ".")
    return Check("python", "ok", f"{version}, with the GIL, {sys.executable}")


def _core(folder: str) -> Check:
    try:
        from stepscope.native import _core
    except ImportError as error:
        advice = "Install again with a C compiler: pip install --force-reinstall stepscope"
        return Check("native core", "failed", f"cannot be loaded: {error}", advice)
    return Check("native core", "ok", _core.__file__ or "built in")


def _frames(folder: str) -> Check | None:
    try:
        from stepscope.native import _core
    except ImportError:
        return None
    if not _core.FRAMES_ARE_PUBLIC:
        return Check("frames", "ok", "laid out as in this version of CPython")
    advice = "Lines cost more, and samples see functions only where Python changes threads."
    found = "not laid out as in a Python that we know: asked through its public functions"
    return Check("frames", "limited", found, advice)


def _clock(folder: str) -> Check | None:
    from stepscope.store.format import ClockKind

    try:
        from stepscope.native import _core
    except ImportError:
        return None
    if _core.CLOCK_KIND == ClockKind.COUNTER:
        return Check("clock", "ok", "the CPU's time-stamp counter (about 20 ns a reading)")
    advice = "The counter is not invariant here (common in virtual machines). Lines cost more."
    return Check("clock", "limited", "CLOCK_MONOTONIC (about 50 ns a reading)", advice)


def _line_engine(folder: str) -> Check:
    if sys.version_info >= (3, 12):
        return _monitoring()
    try:
        from importlib.metadata import version

        import bytecode  # noqa: F401  only to see whether it can be imported
    except ImportError:
        advice = "Install it: pip install bytecode"
        return Check("line engine", "failed", "the package 'bytecode' is missing", advice)
    return Check("line engine", "ok", f"ticks in the bytecode (bytecode {version('bytecode')})")


def _tools() -> dict[int, str | None]:
    """Which tools hold the ids that we may take."""
    if sys.version_info >= (3, 12):
        return {tool: sys.monitoring.get_tool(tool) for tool in OUR_TOOL_IDS}
    return {}


def _monitoring() -> Check:
    taken = _tools()
    free = [tool for tool, name in taken.items() if name is None]
    if free:
        return Check("line engine", "ok", f"sys.monitoring, tool id {free[0]} is free")
    names = ", ".join(f"{tool} by {name}" for tool, name in taken.items())
    advice = "Start Python without the tools that hold them."
    return Check("line engine", "failed", f"sys.monitoring's tool ids are taken: {names}", advice)


def _frameworks(folder: str) -> Check:
    """Looked up, not imported: importing takes seconds."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in packages():
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    if not found:
        return Check("frameworks", "ok", "none is installed, and none is needed")
    if sys.version_info[:2] == FRAMEWORKS_TESTED_ON:
        return Check("frameworks", "ok", ", ".join(found))
    advice = f"Frameworks are tested on Python {dotted(FRAMEWORKS_TESTED_ON)}, and untested here."
    return Check("frameworks", "limited", ", ".join(found), advice)


def _questions(folder: str) -> Check:
    """Never a failure: recording and `show` need nothing more."""
    answered, missing = answered_and_not()
    advice = "\n".join(["For more, install:", *(f"  {words}" for words in missing)])
    return Check("also here", "ok", "; ".join(answered) or "-", advice if missing else None)


def _cache(folder: str) -> Check:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.path.join(base, "stepscope")
    if _is_writable(path):
        return Check("cache folder", "ok", path)
    advice = "Set XDG_CACHE_HOME to a folder you may write to; without it, starts are slower."
    return Check("cache folder", "limited", f"'{path}' cannot be written", advice)


def _space(folder: str) -> Check:
    try:
        free_bytes = shutil.disk_usage(_existing(folder)).free
    except OSError as error:
        return Check("space", "failed", f"'{folder}': {error.strerror}", "Name another folder.")
    found = f"{free_bytes / 2**30:,.1f} GiB free in '{folder}'"
    if free_bytes >= WANTED_BYTES:
        return Check("space", "ok", found)
    advice = "A process may write up to 512 MiB: make room, or use 'run --max-size' or 'run -o'."
    return Check("space", "limited", found, advice)


def _reserving(folder: str) -> Check:
    """Mapped files must not have holes: on a full disk, touching one kills the process."""
    from stepscope.store.local_folder import file_system_of, is_network

    kind = file_system_of(_existing(folder))
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)) as file:
            os.posix_fallocate(file.fileno(), 0, _TRIED_BYTES)
    except OSError as error:
        advice = "Record elsewhere: stepscope run -o /tmp/my-run ..."
        found = f"'{folder}' ({kind or 'unknown file system'}): {error.strerror}"
        return Check("run folder", "failed", found, advice)
    if is_network(kind):
        advice = "Runs are recorded in a node-local folder and moved here at the end."
        return Check("run folder", "ok", f"'{folder}' is on a network file system ({kind})", advice)
    return Check("run folder", "ok", f"'{folder}' can be written ({kind or 'file system unknown'})")


def _proc(folder: str) -> Check:
    missing = [path for path in ("/proc/self/stat", "/proc/self/io") if not _is_readable(path)]
    if missing:
        advice = "Memory, bytes read and written, or start times will be missing from the report."
        return Check("/proc", "limited", f"cannot read {', '.join(missing)}", advice)
    return Check("/proc", "ok", "memory, input and output counters can be read")


def _container(folder: str) -> Check:
    from stepscope.launch.containers import container_limits
    from stepscope.launch.machine import available_cores

    limits = container_limits()
    words = [f"{available_cores()} cores"]
    if limits.cores is not None:
        words.append(f"limited to {limits.cores:g}")
    if limits.memory_bytes is not None:
        words.append(f"memory limited to {limits.memory_bytes / 2**30:,.1f} GiB")
    if limits.cores is None and limits.memory_bytes is None:
        words.append("no container limits")
    return Check("limits", "ok", ", ".join(words))


CHECKS: Final[tuple[Callable[[str], Check | None], ...]] = (
    _platform,
    _python,
    _core,
    _frames,
    _clock,
    _line_engine,
    _frameworks,
    _questions,
    _cache,
    _space,
    _reserving,
    _proc,
    _container,
)


def _existing(folder: str) -> str:
    """The folder itself, or its nearest parent that exists."""
    path = os.path.abspath(folder)
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _is_writable(path: str) -> bool:
    """Tried, not asked: access() does not know about read-only mounts on all systems."""
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=_existing(path)):
        return True
    return False


def _is_readable(path: str) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return bool(file.read(1))
    return False
