"""Reads what `marshal` wrote of plain data, as cProfile does. Python's own reader may end the
process on damaged input, and says so in its documentation."""

import struct
from typing import Any, Final

from stepscope.errors import DataError

_IS_KEPT: Final = 0x80  # may be referred to later
_DEEPEST: Final = 20
_TEXTS: Final = {
    "u": ("<I", "utf-8"), "t": ("<I", "utf-8"), "a": ("<I", "ascii"), "A": ("<I", "ascii"),
    "z": ("<B", "ascii"), "Z": ("<B", "ascii"),
}  # fmt: skip
_CONSTANTS: Final = {"N": None, "T": True, "F": False}


def read_plain_marshal(content: bytes, name: str) -> Any:
    try:
        return _Reader(content).value(0)
    except (IndexError, KeyError, TypeError, UnicodeDecodeError, struct.error, ValueError) as error:
        raise DataError(f"'{name}' is damaged, or not what cProfile writes.") from error


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0
        self._kept: list[Any] = []

    def value(self, depth: int) -> Any:
        code = self._content[self._at]
        self._at += 1
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        if not code & _IS_KEPT:
            return self._of(chr(code), depth)
        place = len(self._kept)
        self._kept.append(None)
        found = self._kept[place] = self._of(chr(code & ~_IS_KEPT), depth)
        return found

    def _of(self, kind: str, depth: int) -> Any:
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in _TEXTS:
            layout, encoding = _TEXTS[kind]
            return self._bytes(self._number(layout)).decode(encoding, "surrogatepass")
        if kind in "()[":
            count = self._number("<B" if kind == ")" else "<I")
            return (
                self._several(count, depth) if kind == "[" else tuple(self._several(count, depth))
            )
        return self._other(kind, depth)

    def _other(self, kind: str, depth: int) -> Any:
        if kind == "i":
            return self._number("<i")
        if kind == "g":
            return self._number("<d")
        if kind == "r":
            return self._kept[self._number("<I")]
        if kind == "l":
            return self._long()
        if kind == "s":
            return self._bytes(self._number("<I"))
        if kind == "{":
            return self._dictionary(depth)
        raise ValueError(f"no plain data: {kind!r}")

    def _several(self, count: int, depth: int) -> list[Any]:
        if count > len(self._content):
            raise ValueError("longer than the file")
        return [self.value(depth + 1) for _ in range(count)]

    def _dictionary(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while self._content[self._at] != ord("0"):
            key = self.value(depth + 1)
            found[key] = self.value(depth + 1)
        self._at += 1
        return found

    def _long(self) -> int:
        """In digits of 15 bits."""
        size = self._number("<i")
        digits = [self._number("<H") for _ in range(min(abs(size), 10))]
        number: int = sum(digit << (15 * place) for place, digit in enumerate(digits))
        return -number if size < 0 else number

    def _bytes(self, size: int) -> bytes:
        found = self._content[self._at : self._at + size]
        if len(found) < size:
            raise ValueError("cut off")
        self._at += size
        return found

    def _number(self, layout: str) -> Any:
        found = struct.unpack_from(layout, self._content, self._at)[0]
        self._at += struct.calcsize(layout)
        return found
