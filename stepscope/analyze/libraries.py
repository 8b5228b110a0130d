"""Which library a function belongs to: a package, by its folder, or none: the user's code."""

import os
import re
from typing import Final

from stepscope.store.reader import ProcessData

_PACKAGES: Final = ("site-packages", "dist-packages")
_STANDARD: Final = re.compile(r"(?:python|pypy)3(?:\.\d+)?$")  # .../lib/python3.12
_FROZEN: Final = re.compile(r"<frozen ([\w.]+)>")
_GENERATED: Final = "__autograph_generated_file"  # TensorFlow's copy of the user's functions
_UNKNOWN: Final = "other"


def users_files(process: ProcessData) -> set[str]:
    """Paths of the files whose lines were recorded: the user's own code."""
    files = {file.path for file in process.names.files.values()}
    return {path for path in files if not is_generated(path)}


def is_generated(path: str) -> bool:
    """A file that a framework made from the user's functions; older runs have their lines."""
    return _GENERATED in path


def generated_codes(process: ProcessData) -> list[int]:
    """Ids of the code in files that a framework made from the user's functions."""
    names = process.names
    files = {file.id for file in names.files.values() if is_generated(file.path)}
    return [code.id for code in names.codes.values() if code.file in files]


def library_of(path: str, users: set[str]) -> str | None:
    """`numpy`, `json`; None for the user's own code."""
    if path in users:
        return None
    if found := _FROZEN.fullmatch(path):
        return found[1].partition(".")[0]
    if path == "~":
        return "built-in"
    parts = path.split(os.sep)
    for index in range(len(parts) - 2, 0, -1):
        if parts[index] in _PACKAGES or _STANDARD.search(parts[index]):
            return parts[index + 1].partition(".")[0]
    return _UNKNOWN if path.startswith("<") else parts[-1].partition(".")[0]
