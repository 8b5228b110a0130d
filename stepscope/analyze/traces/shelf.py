"""Traces that were read, so that each is read once: the latest ones, up to a size."""

import collections
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Final

from stepscope.importers.trace import Trace

MOST_BYTES: Final = 2**30
FileState = tuple[Path, int, int]  # a file that is written anew is another one


class Shelf:
    """Whatever does not fit is read again when it is needed. Several threads may fill it."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: collections.OrderedDict[Hashable, Trace | str] = collections.OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Trace | str | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, found: Trace | str) -> Trace | str:
        """The latest one stays, whatever its size."""
        with self._lock:
            self._bytes += _size(found) - _size(self._kept.pop(key, ""))
            self._kept[key] = found
            while self._bytes > self._most_bytes and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= _size(oldest)
        return found


def state_of(path: Path) -> FileState:
    try:
        stat = path.stat()
    except OSError:
        return path, 0, 0
    return path, stat.st_mtime_ns, stat.st_size


def _size(found: Trace | str) -> int:
    return 0 if isinstance(found, str) else found.nbytes
