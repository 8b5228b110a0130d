"""Runs on a network file system: recorded into a node-local folder, then moved where they belong.

RUN/elsewhere-<host>.json says where a host's records are until they have been moved: at the end of
the run, or by the next `show` on that host.
"""

import json
import os
import shutil
import socket
import stat
import tempfile
from typing import Final

from stepscope.store.format import PROCESS_FILE, RUN_FILE, SOURCES_FOLDER
from stepscope.store.plain_files import (
    append_plain,
    make_folder,
    new_file,
    read_plain,
    remove,
    replace_plain,
    share_no_more,
)

POINTER_PREFIX: Final = "elsewhere-"
HOME_FILE: Final = "home.json"  # node-local: which run it belongs to

# Mapped files are slow or unsafe there: space is not reserved, pages go over the network.
_NETWORK_TYPES: Final = frozenset(
    "nfs nfs4 lustre gpfs cifs smb3 smbfs 9p ceph glusterfs beegfs afs pvfs2 orangefs wekafs panfs "
    "ocfs2 gfs2 coda ncpfs drvfs".split()
)
_LOCAL_FUSE: Final = frozenset({"fuse.fuse-overlayfs", "fuse.overlayfs", "fuse.lxcfs"})
MOUNTS: Final = "/proc/self/mountinfo"


def file_system_of(path: str, mounts: str = MOUNTS) -> str | None:
    """Type of the file system that holds `path`, None where the system does not say."""
    real = os.path.realpath(path)
    best: tuple[int, str | None] = (-1, None)
    try:
        with open(mounts, encoding="utf-8", errors="replace") as file:
            rows = file.readlines()
    except OSError:
        return None
    for row in rows:
        before, _, after = row.partition(" - ")
        point = _unescaped(before.split(" ")[4])
        if real == point or real.startswith(point.rstrip("/") + "/"):
            best = max(best, (len(point), after.split(" ")[0]), key=lambda item: item[0])
    return best[1]


def is_network(file_system: str | None) -> bool:
    if file_system is None or file_system in _LOCAL_FUSE:
        return False
    return file_system in _NETWORK_TYPES or file_system.startswith("fuse.")


def place_for(run_folder: str) -> str:
    """Where to record the run that belongs in `run_folder`: there, or a node-local folder that
    already holds a copy of run.json. All ranks of one host get the same answer."""
    if not is_network(file_system_of(run_folder)):
        return run_folder
    local = _made_nearby(run_folder)
    if local is None:
        return run_folder
    replace_plain(os.path.join(local, RUN_FILE), read_plain(os.path.join(run_folder, RUN_FILE)))
    home = {"run_file": os.stat(os.path.join(run_folder, RUN_FILE)).st_ino}
    replace_plain(os.path.join(local, HOME_FILE), json.dumps(home).encode())
    _write_pointer(run_folder, local)
    return local


def collect(run_folder: str) -> list[str]:
    """Move what this host recorded elsewhere into the run; sentences on what is still missing."""
    sentences = []
    for name in sorted(os.listdir(run_folder)):
        if not name.startswith(POINTER_PREFIX):
            continue
        pointer = _read_pointer(os.path.join(run_folder, name))
        if pointer is None:
            continue
        if pointer["host"] == socket.gethostname() and _is_ours(pointer["folder"], run_folder):
            collect_from(pointer["folder"], run_folder)
        if os.path.exists(os.path.join(run_folder, name)):
            sentences.append(
                f"Some records are still on {pointer['host']} in '{pointer['folder']}': run "
                f"'stepscope show {run_folder}' there once its processes have ended."
            )
    return sentences


def _read_pointer(path: str) -> dict[str, str] | None:
    try:
        pointer = json.loads(read_plain(path))
        return {"host": str(pointer["host"]), "folder": str(pointer["folder"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_ours(local: str, run_folder: str) -> bool:
    """The folder that a pointer names is moved and removed, and run folders get copied around: only
    a folder that we made for this very run may be touched, not for the run that it is a copy of."""
    is_named_so = os.path.basename(local).startswith(f"stepscope-{os.getuid()}-")
    if not is_named_so or not is_private(local):
        return False
    try:
        home = json.loads(read_plain(os.path.join(local, HOME_FILE)))["run_file"]
        texts = [read_plain(os.path.join(folder, RUN_FILE)) for folder in (local, run_folder)]
        return home == os.stat(os.path.join(run_folder, RUN_FILE)).st_ino and texts[0] == texts[1]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def collect_from(local: str, run_folder: str) -> None:
    """Move everything that no living process still writes; the last one removes the folder."""
    left = False
    for entry in sorted(os.listdir(local)) if os.path.isdir(local) else []:
        source = os.path.join(local, entry)
        if entry.startswith("proc-") and _is_being_written(source):
            left = True
        elif entry == SOURCES_FOLDER:
            left = not _bring_sources(source, run_folder) or left
        elif entry not in (RUN_FILE, HOME_FILE):
            _move(source, os.path.join(run_folder, entry))
            left = left or os.path.exists(source)
    if not left:
        shutil.rmtree(local, ignore_errors=True)
        remove(_pointer_path(run_folder))


def _is_being_written(process_folder: str) -> bool:
    """By a living process other than this one."""
    try:
        pid = int(json.loads(read_plain(os.path.join(process_folder, PROCESS_FILE)))["pid"])
        if pid == os.getpid():
            return False
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _move(source: str, target: str) -> None:
    """Copied under a temporary name first: a reader never sees half a folder."""
    folder, name = os.path.split(target)
    arriving = os.path.join(folder, f".arriving-{os.getpid()}-{name}")
    try:
        if os.path.isdir(source):
            shutil.copytree(source, arriving, symlinks=True)
            os.rename(arriving, target)
            shutil.rmtree(source, ignore_errors=True)
        elif source.endswith(".jsonl"):  # other hosts may have written theirs
            append_plain(target, read_plain(source))
            os.unlink(source)
        else:
            with new_file(arriving) as file:
                file.write(read_plain(source))
            os.rename(arriving, target)
            os.unlink(source)
    except OSError:  # another rank of this host was faster, or there is no space: it stays here
        shutil.rmtree(arriving, ignore_errors=True)


def _bring_sources(source: str, run_folder: str) -> bool:
    """Each with its mode; a name is the hash of its text, so what is there is the same."""
    home = os.path.join(run_folder, SOURCES_FOLDER)
    try:
        make_folder(home)
        for name in os.listdir(source):
            text = os.path.join(source, name)
            mode = os.lstat(text).st_mode
            share_no_more(run_folder, mode)
            replace_plain(os.path.join(home, name), read_plain(text), stat.S_IMODE(mode))
    except OSError:  # no space, or a link has its name: it stays here
        return False
    return True


# --- the node-local folder ------------------------------------------------------------------------


def _made_nearby(run_folder: str) -> str | None:
    """The same for all processes of this host and run, in the first local folder that will do.
    Its name can be foreseen, so somebody else may have taken it: then the next one has to do."""
    import hashlib

    key = hashlib.sha1(run_folder.encode("utf-8", "surrogateescape"), usedforsecurity=False)
    name = f"stepscope-{os.getuid()}-{os.path.basename(run_folder)}-{key.hexdigest()[:12]}"
    places = [os.environ.get("SLURM_TMPDIR"), tempfile.gettempdir(), "/dev/shm"]
    for place in places:
        if place and _is_safe(place) and not is_network(file_system_of(place)):
            local = os.path.join(place, name)
            try:
                make_folder(local, 0o700)
            except OSError:
                continue
            if is_private(local):
                return local
    return None


def is_private(folder: str) -> bool:
    """A folder of our own, no link to one, and nobody else may enter it."""
    try:
        about = os.lstat(folder)
    except OSError:
        return False
    is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
    return is_ours and not about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def _is_safe(place: str) -> bool:
    """We can write there, and nobody else can rename what is ours."""
    try:
        mode = os.stat(place).st_mode
    except OSError:
        return False
    is_everybodys = bool(mode & (stat.S_IWGRP | stat.S_IWOTH))
    return os.access(place, os.W_OK) and (bool(mode & stat.S_ISVTX) or not is_everybodys)


def _pointer_path(run_folder: str) -> str:
    return os.path.join(run_folder, f"{POINTER_PREFIX}{socket.gethostname()}.json")


def _write_pointer(run_folder: str, local: str) -> None:
    pointer = {"host": socket.gethostname(), "folder": local}
    replace_plain(_pointer_path(run_folder), json.dumps(pointer).encode())


def _unescaped(text: str) -> str:
    """Blanks and similar characters are written as \\040 there."""
    return text.encode("latin-1", "replace").decode("unicode_escape") if "\\" in text else text
