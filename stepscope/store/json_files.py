"""The JSON files of a run: what cannot be read is left out and noted."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.plain_files import read_plain

_T = TypeVar("_T")


def read_json(path: Path, kind: type[_T], notes: list[str], *, needed: bool = True) -> _T | None:
    """None if it is missing or damaged, which is noted; a newer format is refused."""
    try:
        data = read_plain(path)
    except FileNotFoundError:
        if needed:
            notes.append(f"{path.name} is missing.")
        return None
    except OSError as error:
        notes.append(f"{path.name} cannot be read: {error.strerror or error}.")
        return None
    try:
        _refuse_newer(path, data)
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        notes.append(f"{path.name} is damaged ({error}): it is left out.")
        return None


class _Versioned(msgspec.Struct):
    format: int = 0


def _refuse_newer(path: Path, data: bytes) -> None:
    """Called before the fields are checked: a newer format may have other fields."""
    version = msgspec.json.decode(data, type=_Versioned).format
    if version > fmt.FORMAT_VERSION:
        raise streams.newer_format(path.parent, version)


def read_lines_of_json(
    path: Path, kind: Any, notes: list[str], *, needed: bool = True
) -> list[Any]:
    """One value per line; lines that cannot be read are counted, and the rest is kept."""
    try:
        data = read_plain(path)
    except OSError as error:
        if needed or not isinstance(error, FileNotFoundError):
            notes.append(f"{path.name} cannot be read: {error.strerror or error}.")
        return []
    decoder = msgspec.json.Decoder(kind)
    values, damaged = [], 0
    for line in data.split(b"\n"):
        if not line.strip(b"\0 \r\t"):
            continue
        try:
            values.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            damaged += 1
    if damaged:
        notes.append(f"{path.name}: {damaged} of its lines cannot be read and are left out.")
    return values
