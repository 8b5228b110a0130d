"""Gzipped traces: perhaps cut off, perhaps without .gz in the name."""

import functools
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from stepscope.errors import DataError

_MAGIC: Final = b"\x1f\x8b"
_WINDOW: Final = 31
_PIECE_BYTES: Final = 2**18
_HEAD_BYTES: Final = 4096


def is_zipped(data: bytes) -> bool:
    return data[:2] == _MAGIC


def decompressor() -> tuple[Callable[[], Any], type[Exception]]:
    """isal's if it is installed: three times as fast."""
    try:
        from isal import isal_zlib
    except ImportError:
        return functools.partial(zlib.decompressobj, wbits=_WINDOW), zlib.error
    trouble: type[Exception] = isal_zlib.IsalError  # type: ignore[assignment]  # its stub is wrong
    return functools.partial(isal_zlib.decompressobj, wbits=_WINDOW), trouble


def unzipped(data: bytes) -> tuple[bytes, bool]:
    """Up to where it is damaged, and whether it is."""
    if not is_zipped(data):
        return data, False
    make, trouble = decompressor()
    member = make()
    parts: list[bytes] = []
    for start in range(0, len(data), _PIECE_BYTES):
        try:
            parts.append(member.decompress(data[start : start + _PIECE_BYTES]))
        except (trouble, zlib.error):
            return b"".join(parts), True
    return b"".join(parts), not member.eof


def read_whole(path: Path) -> tuple[bytes, bool]:
    """The file, unzipped up to where it is damaged, and whether it is."""
    try:
        return unzipped(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error


def read_head(path: Path, at_most: int = _HEAD_BYTES) -> bytes:
    """The first few thousand bytes, unzipped."""
    try:
        with open(path, "rb") as file:
            return unzipped(file.read(at_most))[0][:at_most]
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"'{path}' cannot be read: {error.strerror}.")
