"""The bytes of a trace, gzipped, in a zip archive or plain: perhaps cut off, perhaps without .gz in
its name, perhaps made to fill the memory."""

import functools
import itertools
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from stepscope.errors import DataError

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_WINDOW: Final = 31
_READ_BYTES: Final = 2**18
_PIECE_BYTES: Final = 4 * 2**20
_HEAD_BYTES: Final = 4096
# Traces shrink to a tenth or a fiftieth. What shrinks far more was made to fill our memory.
_MOST_TIMES: Final = 200
_HARMLESS_BYTES: Final = 64 * 2**20


class Content:
    """Iterate over it for its bytes, a few megabytes at a time; the rest is known at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_cut_off = False
        self.limit: str | None = None  # what was left out because it would not end

    @functools.cached_property
    def size_bytes(self) -> int:
        """On the disk."""
        return self.path.stat().st_size

    def __iter__(self) -> Iterator[bytes]:
        try:
            with open(self.path, "rb") as file:
                yield from self._limited(self._pieces(file))
        except OSError as error:
            raise unreadable(self.path, error) from error
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
            raise DataError(f"'{self.path}' cannot be unpacked: {error}.") from error

    def _pieces(self, file: Any) -> Iterator[bytes]:
        magic = file.peek(4)[:4]
        if magic[:2] == _GZIP:
            return self._gunzipped(file)
        if magic == _ZIP:
            return self._from_archive(file)
        return iter(functools.partial(file.read, _PIECE_BYTES), b"")

    def _gunzipped(self, file: BinaryIO) -> Iterator[bytes]:
        """Up to where it is damaged. Several members, one after the other, are one file."""
        make, trouble = decompressor()
        member = make()
        while data := file.read(_READ_BYTES):
            is_more = True
            while is_more:
                try:
                    piece = member.decompress(data, _PIECE_BYTES)
                except (trouble, zlib.error):
                    self.is_cut_off = True
                    return
                yield piece
                data = member.unused_data if member.eof else member.unconsumed_tail
                is_more = bool(data) or (not member.eof and len(piece) == _PIECE_BYTES)
                member = make() if member.eof and data else member
        self.is_cut_off = not member.eof

    def _from_archive(self, file: BinaryIO) -> Iterator[bytes]:
        """The largest file in it."""
        with zipfile.ZipFile(file) as archive:
            largest = max(archive.infolist(), key=lambda each: each.file_size, default=None)
            if largest is None:
                return
            with archive.open(largest) as content:
                yield from iter(functools.partial(content.read, _PIECE_BYTES), b"")

    def _limited(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        most = max(_HARMLESS_BYTES, _MOST_TIMES * self.size_bytes)
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > most:
                self.is_cut_off = True
                self.limit = (
                    f"{self.path.name} unpacks to more than {_MOST_TIMES} times its size: what "
                    f"comes after {most / 2**20:,.0f} MiB is left out."
                )
                return
            yield piece


def decompressor() -> tuple[Callable[[], Any], type[Exception]]:
    """isal's if it is installed: three times as fast."""
    try:
        from isal import isal_zlib
    except ImportError:
        return functools.partial(zlib.decompressobj, wbits=_WINDOW), zlib.error
    trouble: type[Exception] = isal_zlib.IsalError  # type: ignore[assignment]  # its stub is wrong
    return functools.partial(isal_zlib.decompressobj, wbits=_WINDOW), trouble


def read_whole(path: Path) -> tuple[bytes, bool]:
    """The file, unzipped up to where it is damaged, and whether it is."""
    content = Content(path)
    whole = b"".join(content)
    return whole, content.is_cut_off


def read_head(path: Path, at_most: int = _HEAD_BYTES) -> bytes:
    """The first few thousand bytes, unzipped; what can be read of them."""
    found = b""
    for piece in itertools.islice(Content(path), 16):
        found += piece
        if len(found) >= at_most:
            break
    return found[:at_most]


def unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"'{path}' cannot be read: {error.strerror}.")
