"""Keeps the memory that a trace takes within bounds, whatever its size: large arrays beyond that
lie in files without a name in the cache, whose pages the system may take away."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stepscope.native import _core

_MEMORY_BYTES: Final = 192 * 2**20  # of arrays, and half of that of pages of the files
_LARGE_BYTES: Final = 2**20


@contextlib.contextmanager
def on_disk(memory_bytes: int = _MEMORY_BYTES, large_bytes: int = _LARGE_BYTES) -> Iterator[bool]:
    """Holds for arrays made meanwhile by this thread; whether a disk is fit for it."""
    found = any(_core.spill_to(os.fspath(each), memory_bytes, large_bytes) for each in _folders())
    try:
        yield found
    finally:
        if found:
            _core.spill_stop()


def _folders() -> Iterator[Path]:
    """The cache, or where the system has room for large files."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stepscope"
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    yield cache
    yield Path("/var/tmp")
