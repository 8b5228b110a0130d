"""What is derived from a run: where it is kept, and how it is written."""

import hashlib
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from stepscope.store.format import TABLES_FOLDER
from stepscope.store.plain_files import make_folder, new_file, read_plain, remove

_LEAST_ROOM: Final = 2 << 30
_ROOM_OF_A_THREAD: Final = 64 << 20


def tables_folders(path: Path) -> tuple[Path, Path]:
    """Where derived files are kept: in the run, or in the user's cache if that is read-only."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    key = hashlib.sha1(os.fsencode(path.resolve()), usedforsecurity=False).hexdigest()[:16]
    return path / TABLES_FOLDER, Path(cache) / "stepscope" / TABLES_FOLDER / key


def has_room_for_tables() -> bool:
    """Whether the library that writes them can be loaded: where memory is refused to it, it ends
    the process. Each of its threads reserves some."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return True
    return limit - _reserved_bytes() >= _LEAST_ROOM + (os.cpu_count() or 1) * _ROOM_OF_A_THREAD


def _reserved_bytes() -> int:
    """Address space of this process."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()


def make_tables_folder(folder: Path) -> None:
    """Raises OSError if a link has its name: the run may be somebody else's."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    make_folder(folder)


def read_table(folder: Path, name: str) -> bytes:
    return read_plain(folder / name, depth=2)


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Atomic: another process may be reading."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new_file(half) as file:
            write(file)
        half.replace(path)
    finally:
        remove(half)
