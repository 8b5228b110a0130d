"""Runs on a network file system: recorded into a node-local folder, then moved where they belong.

RUN/elsewhere-<host>.json says where a host's records are until they have been moved: at the end of
the run, or by the next `show` on that host.
"""

import json
import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Final

from stepscope.store.format import PROCESS_FILE, RUN_FILE, SOURCES_FOLDER

POINTER_PREFIX: Final = "elsewhere-"

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
    local = _local_candidate(run_folder)
    if local is None:
        return run_folder
    os.makedirs(local, mode=0o700, exist_ok=True)
    _replace(os.path.join(run_folder, RUN_FILE), os.path.join(local, RUN_FILE))
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
        with open(path, encoding="utf-8") as file:
            pointer = json.load(file)
        return {"host": str(pointer["host"]), "folder": str(pointer["folder"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_ours(local: str, run_folder: str) -> bool:
    """The folder that a pointer names is moved and removed, and run folders get copied around: only
    a folder that we made for this very run may be touched."""
    is_named_so = os.path.basename(local).startswith(f"stepscope-{os.getuid()}-")
    if not is_named_so or os.path.islink(local) or not os.path.isdir(local):
        return False
    try:
        texts = [Path(folder, RUN_FILE).read_bytes() for folder in (local, run_folder)]
        return os.stat(local).st_uid == os.getuid() and texts[0] == texts[1]
    except OSError:
        return False


def collect_from(local: str, run_folder: str) -> None:
    """Move everything that no living process still writes; the last one removes the folder."""
    left = False
    for entry in sorted(os.listdir(local)) if os.path.isdir(local) else []:
        source = os.path.join(local, entry)
        if entry.startswith("proc-") and _is_being_written(source):
            left = True
        elif entry == SOURCES_FOLDER:
            shutil.copytree(source, os.path.join(run_folder, entry), dirs_exist_ok=True)
        elif entry != RUN_FILE:
            _move(source, os.path.join(run_folder, entry))
            left = left or os.path.exists(source)
    if not left:
        shutil.rmtree(local, ignore_errors=True)
        _remove(_pointer_path(run_folder))


def _is_being_written(process_folder: str) -> bool:
    """By a living process other than this one."""
    try:
        with open(os.path.join(process_folder, PROCESS_FILE), encoding="utf-8") as file:
            pid = int(json.load(file)["pid"])
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
            shutil.copytree(source, arriving)
            os.rename(arriving, target)
            shutil.rmtree(source, ignore_errors=True)
        elif source.endswith(".jsonl"):  # other hosts may have written theirs
            with open(source, "rb") as file, open(target, "ab") as there:
                there.write(file.read())
            os.unlink(source)
        else:
            shutil.copy2(source, arriving)
            os.rename(arriving, target)
            os.unlink(source)
    except OSError:  # another rank of this host was faster, or there is no space: it stays here
        shutil.rmtree(arriving, ignore_errors=True)


def _local_candidate(run_folder: str) -> str | None:
    """The same for all processes of this host and run, in the first local folder that exists."""
    import hashlib

    key = hashlib.sha1(run_folder.encode(), usedforsecurity=False).hexdigest()[:12]
    name = f"stepscope-{os.getuid()}-{os.path.basename(run_folder)}-{key}"
    places = [os.environ.get("SLURM_TMPDIR"), tempfile.gettempdir(), "/dev/shm"]
    for place in places:
        if place and os.access(place, os.W_OK) and not is_network(file_system_of(place)):
            return os.path.join(place, name)
    return None


def _pointer_path(run_folder: str) -> str:
    return os.path.join(run_folder, f"{POINTER_PREFIX}{socket.gethostname()}.json")


def _write_pointer(run_folder: str, local: str) -> None:
    with open(_pointer_path(run_folder), "w", encoding="utf-8") as file:
        json.dump({"host": socket.gethostname(), "folder": local}, file)


def _replace(source: str, target: str) -> None:
    arriving = f"{target}.{os.getpid()}"
    shutil.copyfile(source, arriving)
    os.replace(arriving, target)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _unescaped(text: str) -> str:
    """Blanks and similar characters are written as \\040 there."""
    return text.encode("latin-1", "replace").decode("unicode_escape") if "\\" in text else text
