"""What is derived from a run: where it is kept, and how it is written."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from stepscope.store.format import TABLES_FOLDER


def tables_folders(path: Path) -> tuple[Path, Path]:
    """Where derived files are kept: in the run, or in the user's cache if that is read-only."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    key = hashlib.sha1(os.fsencode(path.resolve()), usedforsecurity=False).hexdigest()[:16]
    return path / TABLES_FOLDER, Path(cache) / "stepscope" / TABLES_FOLDER / key


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Atomic: another process may be reading."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(half)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
