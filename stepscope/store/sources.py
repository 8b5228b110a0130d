"""The text of source files, as it was when they ran."""

import functools
import io
import re
import tokenize
from pathlib import Path
from typing import Final

from stepscope.store import format as fmt
from stepscope.store.plain_files import read_plain

_SOURCE_NAME: Final = re.compile(r"[0-9a-f]{40}")


def source_of(run: Path, name: str | None) -> list[str] | None:
    return None if name is None else _source_lines(run, name)


@functools.lru_cache(maxsize=256)  # a name is the hash of its text: it never changes
def _source_lines(run: Path, name: str) -> list[str] | None:
    """As Python itself reads them: the file's own encoding, and only newlines end a line."""
    if not _SOURCE_NAME.fullmatch(name):
        return None
    try:
        data = io.BytesIO(read_plain(run / fmt.SOURCES_FOLDER / name, depth=2))
    except OSError:
        return None
    try:
        encoding, _ = tokenize.detect_encoding(data.readline)
        data.seek(0)
        return [line.rstrip("\n") for line in io.TextIOWrapper(data, encoding)]
    except (SyntaxError, UnicodeDecodeError):
        return data.getvalue().decode("utf-8", "replace").split("\n")
