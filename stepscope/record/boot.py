"""How recording gets into a process: what every interpreter below `stepscope run` does at start.

Everything is in the environment:
  STEPSCOPE_RUN         the run folder, absolute
  STEPSCOPE_HOME        the folder that contains this package
  STEPSCOPE_SUPERVISOR  process id of the supervisor, if there is one
  STEPSCOPE_MAIN        process id of the recorded process itself, under a launcher
  STEPSCOPE_RANK        rank of the nearest ancestor that has one
  STEPSCOPE_COLLECT_INTO  where a rank's records belong when the run folder is only node-local
  STEPSCOPE_TRIAL       the file that names the fixes `stepscope try` applies to the script
"""

import os
import sys
from collections.abc import Mapping

from stepscope.launch import launchers
from stepscope.launch.options import RecordOptions
from stepscope.launch.unrecorded import SHIM, unrecorded
from stepscope.store import small_json
from stepscope.store.file_names import NOTES_FILE, RUN_FILE
from stepscope.store.plain_files import append_plain, read_plain
from stepscope.typed import Any, Final

_MODULE_ENDINGS: Final = (".py", ".pyc", ".so")
_SIGKILL: Final = 9  # `signal` takes 3 ms, with the module that makes its enumerations
# Interpreters that multiprocessing starts for itself: they run no code of the user.
_HOUSEKEEPING: Final = "from multiprocessing.resource_tracker import main"


def start_from_environment(loaded_before: set[str]) -> None:
    """`loaded_before`: names of the modules that were loaded before any of ours."""
    run_folder = os.environ.get("STEPSCOPE_RUN", "")
    hiding = _module_names(_script_folder())
    try:
        if os.path.isfile(os.path.join(run_folder, RUN_FILE)) and not _is_housekeeping():
            _record_or_note(run_folder)
            _load_the_rewriter(hiding)
    finally:
        _give_names_back(loaded_before, hiding)


def environment_for(run_folder: str, before: Mapping[str, str]) -> dict[str, str]:
    """The environment in which every interpreter records into `run_folder`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = unrecorded(before)
    path = environment.get("PYTHONPATH")
    environment["STEPSCOPE_RUN"] = run_folder
    environment["STEPSCOPE_HOME"] = os.path.dirname(package)
    environment["PYTHONPATH"] = os.pathsep.join([SHIM, *([path] if path else ())])
    return environment


def role_and_rank(environment: Mapping[str, str]) -> tuple[str, int | None]:
    """("main" | "rank" | "worker", rank). A rank is a process whose launcher gave it a rank that
    none of its recorded ancestors has; a worker keeps the rank of its ancestor."""
    rank = launchers.rank_of(environment)
    if environment.get("STEPSCOPE_SUPERVISOR") == str(os.getppid()):
        return "main", None
    if environment.get("STEPSCOPE_MAIN") == str(os.getpid()):
        return ("main" if rank is None else "rank"), rank
    if rank is not None and environment.get("STEPSCOPE_RANK") != str(rank):
        return "rank", rank
    inherited = environment.get("STEPSCOPE_RANK", "")
    return "worker", int(inherited) if rank is None and inherited.isdecimal() else rank


def leave_note(run_folder: str, text: str, severity: str = "warning") -> None:
    """A sentence about the run as a whole; one small append, so that processes do not mix."""
    line = small_json.write({"is": "note", "text": text, "severity": severity}) + b"\n"
    try:
        append_plain(os.path.join(run_folder, NOTES_FILE), line)
    except OSError:
        return  # a note is not worth a failure


def _record_or_note(run_folder: str) -> None:
    role, rank = role_and_rank(os.environ)
    try:
        _record(run_folder, role, rank)
    except ImportError as trouble:
        if "subinterpreters" in str(trouble):
            return  # another interpreter in a process that is being recorded
        # A child with another build of Python cannot load our native core: it runs unrecorded.
        if role != "worker":
            raise
        leave_note(run_folder, f"Process {os.getpid()} is not recorded: {trouble}.")


def _record(run_folder: str, role: str, rank: int | None) -> None:
    from stepscope.native import _core

    supervisor = os.environ.get("STEPSCOPE_SUPERVISOR", "")
    if role == "main" and supervisor and not _core.die_with_parent(int(supervisor)):
        os.kill(os.getpid(), _SIGKILL)  # it ended while we started: so do we
    from stepscope.record import recording

    if role == "rank":
        os.environ["STEPSCOPE_RANK"] = str(rank)
    options = read_options(run_folder)
    if options.log and role == "rank" and rank == 0:
        _log_at_exit(run_folder)
    _collect_at_exit(run_folder, role)
    if role != "worker":
        _apply_fixes(run_folder)
    recording.start(run_folder, options, role, rank)


def _apply_fixes(run_folder: str) -> None:
    """Named as text: recording does not depend on what is tried with it."""
    trial = os.environ.get("STEPSCOPE_TRIAL")
    if trial:
        import importlib

        importlib.import_module("stepscope.trial.in_script").apply(trial, run_folder)


def read_options(run_folder: str) -> RecordOptions:
    fields: dict[str, Any] = small_json.read(read_plain(os.path.join(run_folder, RUN_FILE)))
    return RecordOptions.from_json(fields.get("options", {}))


def _log_at_exit(run_folder: str) -> None:
    """A rank has no supervisor that would do it. Registered first, so that it runs last."""
    import atexit

    from stepscope.launch.tracker_runs import hand_over

    process, home = os.getpid(), os.environ.get("STEPSCOPE_COLLECT_INTO") or run_folder
    atexit.register(lambda: hand_over(home) if os.getpid() == process else None)


def _collect_at_exit(run_folder: str, role: str) -> None:
    """A rank has no supervisor that would collect its records from a node-local folder.
    Registered before recording starts, so that it runs after recording has ended."""
    home = os.environ.get("STEPSCOPE_COLLECT_INTO")
    if role != "rank" or not home:
        return
    import atexit

    from stepscope.store import local_folder

    process = os.getpid()  # forked workers inherit the handler, but only the rank collects
    atexit.register(
        lambda: local_folder.collect_from(run_folder, home) if os.getpid() == process else None
    )


def _is_housekeeping() -> bool:
    return "-c" in sys.orig_argv and any(
        argument.startswith(_HOUSEKEEPING) for argument in sys.orig_argv
    )


def _load_the_rewriter(hiding: set[str]) -> None:
    """Python 3.11: where the script's modules hide what it needs, it would later get those."""
    if sys.version_info < (3, 12) and hiding & {*sys.stdlib_module_names, "bytecode"}:
        from stepscope.record.bytecode.tick_cache import load_the_rewriter

        load_the_rewriter()


def _give_names_back(loaded_before: set[str], hiding: set[str]) -> None:
    """The script may have its own module under the name of a standard one that only we needed so
    early: ours is unloaded again, and the script's import finds the same module as without us."""
    early = {name for name in set(sys.modules) - loaded_before if _is_found_on_path(name)}
    for name in early & hiding:
        for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
            del sys.modules[loaded]


def _is_found_on_path(name: str) -> bool:
    """Built-in and frozen modules come before the path, so nothing can replace them."""
    spec = getattr(sys.modules[name], "__spec__", None)
    origin = getattr(spec, "origin", None)
    return "." not in name and name != "stepscope" and origin not in (None, "built-in", "frozen")


def _module_names(folder: str | None) -> set[str]:
    """Names of the modules and packages in a folder."""
    try:
        entries = os.listdir(folder) if folder else []
    except OSError:
        return set()
    modules = {entry.partition(".")[0] for entry in entries if entry.endswith(_MODULE_ENDINGS)}
    folders = {entry for entry in entries if entry.isidentifier()}
    return modules | {
        name for name in folders if os.path.isfile(os.path.join(folder or "", name, "__init__.py"))
    }


def _script_folder() -> str | None:
    """What the interpreter is about to put first on sys.path, None for nothing."""
    if sys.flags.safe_path:
        return None
    script = sys.argv[0] if sys.argv else ""
    if script in ("", "-c", "-m"):
        return os.getcwd()
    real = os.path.realpath(script)
    return real if os.path.isdir(real) else os.path.dirname(real)
