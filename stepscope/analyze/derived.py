"""What is derived from a run: where it is kept, and how it is written."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from stepscope.store.format import TABLES_FOLDER
from stepscope.store.plain_files import make_folder, new_file, read_plain, remove


def tables_folders(path: Path) -> tuple[Path, Path]:
    """Where derived files are kept: in the run, or in the user's cache if that is read-only."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    key = hashlib.sha1(os.fsencode(path.resolve()), usedforsecurity=False).hexdigest()[:16]
    return path / TABLES_FOLDER, Path(cache) / "stepscope" / TABLES_FOLDER / key


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
