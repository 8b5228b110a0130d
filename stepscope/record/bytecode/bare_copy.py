"""Python 3.11: puts a copy without ticks behind code with ticks, to run once they are not wanted.

    the instructions with ticks | one unit that nothing reaches | the original ones | islands

A tick that is switched off becomes a jump to its instruction in the copy. Where a line still
counts, a jump takes the place of its first instruction in the copy; it leads to the line's island,
which leads back to its tick. See native/lines/bare.c.
"""

# struct, loaded so late, could be the script's own module.
from _struct import Struct, pack
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Final, NamedTuple

_NOP, _ONE_UNIT, _TWO_UNITS = 9, 0xFF, 0xFFFF  # how far jumps reach
_EXTENDED_ARG, _JUMP_BACK = 144, 134  # JUMP_BACKWARD_NO_INTERRUPT: nothing may happen on the way
_ISLAND_UNITS: Final = 3  # two prefixes and the jump
_ENTRY: Final = Struct("=IIII")
_AFTER_CACHES, _WIDE = 1, 2
# Entries of a line table: (code, has it a difference of lines as its first number).
_NO_COLUMNS, _LONG, _NONE = 13, 14, 15


class TickPlace(NamedTuple):
    """A tick, in code units from the start of its code."""

    tick: int  # its first unit
    plain: int  # in the original: the first unit of the instruction behind the tick
    always_begins: bool  # every way into that instruction begins the line of the tick
    after_caches: bool  # the unit before it in the original is no instruction
    has_two_units: bool  # nothing ever goes on, or comes in, between its first two units


class WithCopy(NamedTuple):
    """Tables of a code object, and the copy as native/lines/bare.h describes it."""

    instructions: bytes
    line_table: bytes
    exception_table: bytes
    bare: bytes


def append_copy(ticked: CodeType, original: CodeType, ticks: Iterable[TickPlace]) -> WithCopy:
    start = len(ticked.co_code) // 2 + 1
    end = start + len(original.co_code) // 2
    islands, entries = _islands(start, end, ticks)
    return WithCopy(
        ticked.co_code + bytes((_NOP, 0)) + original.co_code + islands,
        _line_table(ticked, original, len(islands) // 2),
        ticked.co_exceptiontable + _moved(original.co_exceptiontable, start),
        pack("=I", start) + entries,
    )


def _islands(start: int, end: int, ticks: Iterable[TickPlace]) -> tuple[bytes, bytes]:
    """Of the lines that may count on in the copy; one that is out of reach has none."""
    islands, entries = b"", b""
    for place in ticks:
        bare, island = start + place.plain, end + len(islands) // 2
        is_wide, about = island - bare - 1 > _ONE_UNIT, _AFTER_CACHES * place.after_caches
        reach = _TWO_UNITS if place.has_two_units else _ONE_UNIT
        if not place.always_begins or island - bare - 1 > reach:
            entries += _ENTRY.pack(place.tick, bare, int(not place.always_begins), about)
            continue
        entries += _ENTRY.pack(place.tick, bare, island, about + _WIDE * is_wide)
        high, middle, low = (island + _ISLAND_UNITS - place.tick).to_bytes(3, "big")
        islands += bytes((_EXTENDED_ARG, high, _EXTENDED_ARG, middle, _JUMP_BACK, low))
    return islands, entries


# --- where exceptions go ------------------------------------------------------------------------


def _moved(table: bytes, by: int) -> bytes:
    """An exception table for the same instructions further back: start, length, target, depth."""
    numbers = list(_numbers(table))
    entries = zip(*(numbers[i::4] for i in range(4)), strict=True)
    return b"".join(
        _number(start + by, begins=True) + _number(length) + _number(target + by) + _number(depth)
        for start, length, target, depth in entries
    )


def _numbers(table: bytes) -> Iterator[int]:
    """Six bits a byte, the highest first; bit 6: the number continues."""
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0


def _number(value: int, *, begins: bool = False) -> bytes:
    digits = [value & 63]
    while value := value >> 6:
        digits.insert(0, value & 63 | 64)
    digits[0] |= 128 * begins
    return bytes(digits)


# --- lines --------------------------------------------------------------------------------------


def _line_table(ticked: CodeType, original: CodeType, island_units: int) -> bytes:
    """Lines are differences, and the copy's begin with the function's first line again: the unit in
    between goes back to it."""
    back = original.co_firstlineno - _last_line(ticked)
    between = bytes((0x80 | _NO_COLUMNS << 3,)) + _signed(back)
    full, rest = divmod(island_units, 8)
    lengths = [8] * full + [rest] * bool(rest)
    nowhere = bytes(0x80 | _NONE << 3 | length - 1 for length in lengths)
    return ticked.co_linetable + between + original.co_linetable + nowhere


def _last_line(code: CodeType) -> int:
    line, table = code.co_firstlineno, code.co_linetable
    for at, byte in enumerate(table):
        kind = byte >> 3 & 15
        if not byte & 0x80 or kind == _NONE or kind < 10:
            continue
        line += _read_signed(table, at + 1) if kind in (_NO_COLUMNS, _LONG) else kind - 10
    return line


def _read_signed(table: bytes, at: int) -> int:
    """Six bits a byte, the lowest first; bit 6: it continues; the lowest bit of all is its sign."""
    value = shift = 0
    while True:
        value |= (table[at] & 63) << shift
        if not table[at] & 64:
            return -(value >> 1) if value & 1 else value >> 1
        at, shift = at + 1, shift + 6


def _signed(value: int) -> bytes:
    value = -value << 1 | 1 if value < 0 else value << 1
    digits = [value & 63]
    while value := value >> 6:
        digits[-1] |= 64
        digits.append(value & 63)
    return bytes(digits)
