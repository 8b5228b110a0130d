"""The run folder before anything runs: its name, its creation, what is refused, and run.json."""

import contextlib
import json
import os
import shutil
import time
from typing import Any, Final

from stepscope.errors import EnvironmentTrouble, InputError
from stepscope.launch.launchers import Launch, launch_name, with_restart
from stepscope.store.format import (
    NOTES_FILE,
    RUN_FILE,
    SOURCES_FOLDER,
    SUPERVISOR_FILE,
    SYSTEM_FILE,
    TABLES_FOLDER,
)
from stepscope.store.plain_files import new_file, read_plain, remove, share_no_more

DEFAULT_PARENT: Final = "stepscope-runs"

_OURS: Final = frozenset(
    {RUN_FILE, SUPERVISOR_FILE, SYSTEM_FILE, SOURCES_FOLDER, TABLES_FOLDER}
    | {NOTES_FILE, "report.html"}
)
_OUR_PREFIXES: Final = ("proc-", "elsewhere-", ".arriving-", RUN_FILE)


def new_folder(name: str) -> str:
    """stepscope-runs/<name>-<time>, created now and never shared with a run of the same second."""
    parent = os.path.abspath(DEFAULT_PARENT)
    base = f"{safe_name(name)}-{time.strftime('%Y%m%d-%H%M%S')}"
    _make_parent(parent)
    for attempt in range(1, 1000):
        path = os.path.join(parent, base if attempt == 1 else f"{base}-{attempt}")
        try:
            os.mkdir(path)
        except FileExistsError:
            continue
        except OSError as cause:
            raise _cannot_write(parent, cause) from cause
        return path
    raise EnvironmentTrouble(f"'{parent}' is full of runs named '{base}': remove some.")


def chosen_folder(path: str, *, force: bool) -> str:
    """The folder that -o names: new, empty, or (with --force) an earlier run's."""
    folder = os.path.abspath(path)
    _make(folder)
    entries = os.listdir(folder)
    if not entries:
        return folder
    if RUN_FILE not in entries:
        raise InputError(f"'{path}' is not empty and not a run: give -o another folder.")
    if not force:
        raise InputError(
            f"'{path}' already holds a run: give -o another folder, or --force to replace it."
        )
    _empty(folder, entries)
    return folder


def launch_folder(launch: Launch, path: str | None) -> str:
    """The common folder of all ranks of a launch; the ranks come in any order."""
    if path is None:
        parent = os.path.abspath(DEFAULT_PARENT)
        name = launch_name(launch)
        _make_parent(parent)
        folder = os.path.join(parent, name)
    else:
        folder = with_restart(os.path.abspath(path), launch)
    _make(folder)
    entries = os.listdir(folder)
    mine = [entry for entry in entries if entry.startswith(f"proc-{launch.rank}-")]
    if mine:
        raise InputError(
            f"'{folder}' already holds rank {launch.rank} of an earlier launch: remove the folder, "
            "or give -o another one."
        )
    if any(not _is_ours(entry) for entry in entries):
        raise InputError(f"'{folder}' is not empty and not a run: give -o another folder.")
    if RUN_FILE in entries and _launcher_in(folder) != launch_facts(launch):
        raise InputError(f"'{folder}' holds another run: give -o another folder.")
    return folder


def launch_facts(launch: Launch) -> dict[str, Any]:
    """The launch as in run.json: the same in all its ranks."""
    return {
        "variable": launch.variable,
        "ranks": launch.ranks,
        "id": launch.launch_id,
        "restart": launch.restart,
    }


def write_run_file(folder: str, fields: dict[str, Any]) -> bool:
    """The first rank writes run.json, complete at once; False for the others."""
    target = os.path.join(folder, RUN_FILE)
    arriving = f"{target}.{os.uname().nodename}-{os.getpid()}"
    _share_like(folder, fields.get("script"))
    try:
        with new_file(arriving) as file:
            file.write(json.dumps(fields, indent=1).encode())
        return _link(arriving, target)
    except OSError as cause:
        raise _cannot_write(folder, cause) from cause
    finally:
        remove(arriving)


def safe_name(name: str) -> str:
    """A file name that needs no quotes in a shell."""
    kept = "".join(c if c.isalnum() or c in "-._" else "-" for c in name)
    return kept.strip("-.")[:80] or "run"


def _share_like(folder: str, script: str | None) -> None:
    """The run holds the script's command line and text: it is for those who may read the script."""
    with contextlib.suppress(OSError):
        if script is not None:
            share_no_more(folder, os.stat(script).st_mode)


def _launcher_in(folder: str) -> Any:
    try:
        return json.loads(read_plain(os.path.join(folder, RUN_FILE))).get("launcher")
    except (OSError, ValueError, AttributeError):
        return None


def _link(arriving: str, target: str) -> bool:
    """A link cannot replace an existing file, and shows the whole file or none."""
    try:
        os.link(arriving, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: create exclusively instead
        return _write_exclusively(arriving, target)
    return True


def _write_exclusively(arriving: str, target: str) -> bool:
    try:
        with open(arriving, "rb") as file, open(target, "xb") as new:
            new.write(file.read())
    except FileExistsError:
        return False
    return True


def _make_parent(parent: str) -> None:
    """Keep the folder of all runs out of the user's git."""
    _make(parent)
    ignore = os.path.join(parent, ".gitignore")
    if not os.path.lexists(ignore) and os.access(parent, os.W_OK):
        with new_file(ignore) as file:
            file.write(b"*\n")


def _make(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError as cause:
        raise InputError(f"'{folder}' is a file: give -o the name of a folder.") from cause
    except OSError as cause:
        raise _cannot_write(folder, cause) from cause
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EnvironmentTrouble(
            f"Cannot write to '{folder}': permission denied. Give another folder with -o."
        )


def _cannot_write(folder: str, cause: OSError) -> EnvironmentTrouble:
    reason = (cause.strerror or str(cause)).lower()
    return EnvironmentTrouble(f"Cannot write to '{folder}': {reason}. Give another folder with -o.")


def _is_ours(entry: str) -> bool:
    name, _, number = entry.rpartition(".")  # a process that was killed left half a file behind
    is_half = number.isdecimal() and name.removeprefix(".") in _OURS
    return entry in _OURS or entry.startswith(_OUR_PREFIXES) or is_half


def _empty(folder: str, entries: list[str]) -> None:
    """Only what a run consists of: other files in there belong to the user."""
    foreign = sorted(entry for entry in entries if not _is_ours(entry))
    if foreign:
        raise InputError(
            f"'{folder}' holds a run and also '{foreign[0]}', which is not part of it: "
            "give -o another folder."
        )
    for entry in entries:
        path = os.path.join(folder, entry)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def shown(folder: str) -> str:
    """The shortest form that can be typed from here."""
    relative = os.path.relpath(folder)
    return folder if relative.startswith(os.pardir) else relative
