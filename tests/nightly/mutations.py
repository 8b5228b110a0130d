"""Damages files as disks, crashes and other programs do: at random, but the same for a seed."""

import random
from collections.abc import Callable

_EDGES = (0, 1, 2**7, 2**8 - 1, 2**15, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1)
_WORDS = (
    b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\ud800", b",", b":", b"-", b".", b"1e999",
    b"NaN", b"null", b"true", b"\0", b"\xff", b"\xc3\x28", b"18446744073709551616", b"-0", b"/",
    b"\n",
)  # fmt: skip

Damage = Callable[[bytearray, random.Random], None]


def _bit(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _number(data: bytearray, chance: random.Random) -> None:
    """A field with a number that nobody expects."""
    size = chance.choice((1, 2, 4, 8))
    at = chance.randrange(len(data)) // size * size
    value = chance.choice(_EDGES) % (1 << 8 * size)
    data[at : at + size] = value.to_bytes(size, "little")


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _hole(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    size = min(len(data) - at, chance.randrange(1, 200))
    data[at : at + size] = bytes(size)


def _missing(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.randrange(1, 40)]


def _twice(data: bytearray, chance: random.Random) -> None:
    at, to = chance.randrange(len(data)), chance.randrange(len(data))
    data[to:to] = data[at : at + chance.randrange(1, 100)]


def _word(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at : at + chance.randrange(3)] = chance.choice(_WORDS)


_DAMAGES: tuple[Damage, ...] = (_bit, _number, _cut, _hole, _missing, _twice, _word, _word)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """One to four kinds of damage."""
    data = bytearray(content)
    for _ in range(chance.randrange(1, 5)):
        if data:
            chance.choice(_DAMAGES)(data, chance)
    return bytes(data)
