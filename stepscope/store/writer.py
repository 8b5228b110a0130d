"""Writes what is not a .bin file: the process's own description, its names, the sources.

Standard library only: this runs in the recorded process. Nothing here raises while the script
runs: what cannot be written is counted, and the run notes it.
"""

import errno
import itertools
import os
import resource

# hashlib loads all of OpenSSL, and imported later it could be the script's own module.
from _sha1 import sha1  # type: ignore[import-not-found]  # it has no stub
from collections.abc import Iterator

from stepscope.native import _core
from stepscope.signal_handlers import suppressed
from stepscope.store import file_names, small_json
from stepscope.store.plain_files import exists, make_folder, replace_plain, share_no_more
from stepscope.typed import Any


def write_json(path: str, fields: dict[str, Any]) -> None:
    """Replace `path` in one step: readers see the old text or the new one."""
    write_file(path, small_json.write(fields, in_lines=True))


def write_file(path: str, content: bytes, mode: int = 0o666) -> None:
    """The same for bytes."""
    if not may_grow_to(len(content)):
        raise OSError(errno.EFBIG, "beyond the process's limit for the size of a file", path)
    replace_plain(path, content, mode)


def may_grow_to(size_bytes: int) -> bool:
    """Beyond the limit the system sends SIGXFSZ, which ends a script that does not ignore it."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return limit == resource.RLIM_INFINITY or size_bytes <= limit


class Names:
    """names.jsonl: a name is in the file before the first record that uses it."""

    def __init__(self, folder: str) -> None:
        self._entries: list[tuple[str, bytes]] = []  # what it is, and its line in the file
        self._ids: dict[tuple[Any, ...], int] = {}
        self._numbers: dict[str, Iterator[int]] = {}
        self._counts: dict[str, int] = {}
        self.lost = 0
        self._file = self._open(folder)

    @staticmethod
    def _open(folder: str) -> _core.AppendFile:
        return _core.AppendFile(os.path.join(folder, file_names.NAMES_FILE))

    def _write(self, data: bytes) -> bool:
        """In one call: a process that dies leaves whole lines behind."""
        if self._file.append(data):
            return True
        self.lost += 1
        return False

    def add(self, kind: str, number: int | None = None, /, **fields: Any) -> int:
        """Add an entry; returns its id, the next one unless given, 0 if it was not written."""
        if number is None:  # atomic: other threads add names too
            number = next(self._numbers.setdefault(kind, itertools.count(1)))
        line = _line({"is": kind, "id": number, **fields})
        if not self._write(line):
            return 0
        self._counts[kind] = self._counts.get(kind, 0) + 1
        self._entries.append((kind, line))
        return number

    def intern(self, kind: str, /, **fields: Any) -> int:
        """The id of this entry, added when it is new."""
        key = (kind, *fields.values())
        number = self._ids.get(key)
        if number is None:
            number = self.add(kind, **fields)
            if number:
                self._ids[key] = number
        return number

    def count(self, kind: str) -> int:
        return self._counts.get(kind, 0)

    def note(self, text: str, severity: str = "warning") -> None:
        self._write(_line({"is": "note", "text": text, "severity": severity}))

    def move_to(self, folder: str) -> None:
        """In a forked child: the same ids in its own file. Threads are not inherited."""
        self.close()
        self._file = self._open(folder)
        self._entries = [(kind, line) for kind, line in self._entries if kind != "thread"]
        self._ids = {key: number for key, number in self._ids.items() if key[0] != "thread"}
        self._write(b"".join(line for _, line in self._entries))

    def close(self) -> None:
        self._file.close()


def _line(entry: dict[str, Any]) -> bytes:
    return small_json.write(entry) + b"\n"


def keep_source(run_folder: str, path: str) -> str | None:
    """Copy a source file into the run; returns its name there. The script may be edited before
    anyone looks at the report. Who may not read the original may not read the copy either."""
    with suppressed(OSError):
        with open(path, "rb") as file:
            text, mode = file.read(), os.fstat(file.fileno()).st_mode
        share_no_more(run_folder, mode)
        return keep_text(run_folder, text, mode & 0o666 | 0o600)
    return None


def keep_text(run_folder: str, text: bytes, mode: int = 0o666) -> str:
    """The same for a text: its name in the run."""
    name: str = sha1(text).hexdigest()
    folder = os.path.join(run_folder, file_names.SOURCES_FOLDER)
    make_folder(folder)
    target = os.path.join(folder, name)
    if not exists(target):
        write_file(target, text, mode)
    return name
