"""TensorBoard's event files, written without TensorBoard: scalars and texts.

A file is a row of records: length, its checksum, an `Event` message, its checksum. Several files in
one folder are one run to TensorBoard, so ours lies beside the script's.
"""

import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from typing import Final

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # the wire types of protocol buffers
_STRING: Final = 7  # DT_STRING
_POLYNOMIAL: Final = 0x82F63B78  # CRC-32C
_MASK: Final = 0xA282EAD8

Scalars = Iterable[tuple[int, dict[str, float]]]


def write(folder: str, scalars: Scalars, texts: dict[str, str], step: int) -> str:
    """Its path. `step`: where the texts are shown."""
    now_s = time.time()
    name = f"events.out.tfevents.{now_s:.0f}.{socket.gethostname()}.{os.getpid()}.stepscope"
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    with open(path, "xb") as file:
        for event in _events(now_s, scalars, texts, step):
            file.write(_record(event))
    return path


def _events(now_s: float, scalars: Scalars, texts: dict[str, str], step: int) -> Iterator[bytes]:
    when = _field(1, _FIXED64, struct.pack("<d", now_s))
    yield when + _text_field(3, "brain.Event:2")
    for at, metrics in scalars:
        values = b"".join(_bytes_field(1, _scalar(*metric)) for metric in metrics.items())
        yield when + _number_field(2, at) + _bytes_field(5, values)
    values = b"".join(_bytes_field(1, _text(*text)) for text in texts.items())
    yield when + _number_field(2, step) + _bytes_field(5, values)


def _scalar(tag: str, value: float) -> bytes:
    return _text_field(1, tag) + _field(2, _FIXED32, struct.pack("<f", value))


def _text(tag: str, text: str) -> bytes:
    """A tensor of one string, which the metadata gives to the plugin for texts."""
    plugin = _text_field(1, "text")
    one = _bytes_field(2, _number_field(1, 1))
    tensor = _number_field(1, _STRING) + _bytes_field(2, one) + _text_field(8, text)
    return _text_field(1, tag) + _bytes_field(8, tensor) + _bytes_field(9, _bytes_field(1, plugin))


def _record(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + _checksum(length) + event + _checksum(event)


# --- protocol buffers and checksums ---------------------------------------------------------------


def _field(number: int, wire_type: int, content: bytes) -> bytes:
    return _varint(number << 3 | wire_type) + content


def _number_field(number: int, value: int) -> bytes:
    return _field(number, _VARINT, _varint(value))


def _bytes_field(number: int, content: bytes) -> bytes:
    return _field(number, _BYTES, _varint(len(content)) + content)


def _text_field(number: int, text: str) -> bytes:
    return _bytes_field(number, text.encode("utf-8", "replace"))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE: Final = _table()


def _checksum(content: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)
