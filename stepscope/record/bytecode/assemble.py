"""Turns a list of instructions with labels back into a Python 3.11 code object."""

from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

# Now: a script may have a module of its own under that name.
from bytecode import ConcreteBytecode, ConcreteInstr
from bytecode.concrete import ExceptionTableEntry
from bytecode.instr import InstrLocation

Label = tuple[str, int]


class Cover(NamedTuple):
    """Where an exception in an instruction goes. A tuple, not a dataclass: importing those takes
    10 ms in every recorded process."""

    handler: Label
    stack_depth: int
    push_lasti: bool


class Unit(NamedTuple):
    """An instruction to write: with an argument, a label to jump to, or copied unchanged."""

    name: str
    location: InstrLocation
    cover: Cover | None
    arg: int | None = None
    target: Label | None = None
    caches: int = 0
    taken: "ConcreteInstr | None" = None


class Listing:
    """What will become a code object."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.labels: dict[Label, int] = {}  # to the index of a unit

    def mark(self, label: Label) -> None:
        self.labels[label] = len(self.units)


def assemble(listing: Listing, original: CodeType) -> tuple[CodeType, list[int], list[int]]:
    """A code object with the instructions of `listing` and their tables; where each unit begins in
    it, and where its instruction is, behind its prefixes, in code units.

    A tick needs one more place on the stack than the code around it; the handler that ends every
    function holds an offset, an exception and a tick.
    """
    offsets, widths = _lay_out(listing)
    concrete = ConcreteBytecode()
    concrete.first_lineno = original.co_firstlineno
    concrete.extend(_instructions(listing, offsets, widths))
    concrete.exception_table = list(_exception_table(listing, offsets))
    size = max(original.co_stacksize + 1, 3)
    made = concrete.to_code(stacksize=size, compute_exception_stack_depths=False)
    return made, offsets, [at + width - 1 for at, width in zip(offsets, widths, strict=False)]


def _lay_out(listing: Listing) -> tuple[list[int], list[int]]:
    """Offsets (one more than units) and widths, caches not included, in code units.

    A jump's width depends on its distance and the distance on widths, so widths only grow, until
    nothing changes.
    """
    units = listing.units
    widths = [_width(_fixed_arg(unit)) for unit in units]
    jumps = [(i, unit.target) for i, unit in enumerate(units) if unit.target is not None]
    while True:
        offsets = [0]
        for unit, width in zip(units, widths, strict=True):
            offsets.append(offsets[-1] + width + unit.caches)
        settled = True
        for i, target in jumps:
            width = _width(abs(offsets[listing.labels[target]] - offsets[i + 1]))
            if width > widths[i]:
                widths[i] = width
                settled = False
        if settled:
            return offsets, widths


def _fixed_arg(unit: Unit) -> int:
    if unit.taken is not None and isinstance(unit.taken.arg, int):
        return unit.taken.arg
    return unit.arg or 0


def _width(arg: int) -> int:
    return 1 if arg <= 0xFF else 2 if arg <= 0xFFFF else 3 if arg <= 0xFFFFFF else 4


def _instructions(
    listing: Listing, offsets: list[int], widths: list[int]
) -> Iterator["ConcreteInstr"]:
    for i, unit in enumerate(listing.units):
        yield _instruction(unit, widths[i], _distance(listing, offsets, i))
        if unit.caches:
            cache = _instruction(Unit("CACHE", unit.location, None, arg=0), 1, None)
            yield from (cache for _ in range(unit.caches))


def _distance(listing: Listing, offsets: list[int], index: int) -> int | None:
    target = listing.units[index].target
    return None if target is None else abs(offsets[listing.labels[target]] - offsets[index + 1])


def _instruction(unit: Unit, width: int, distance: int | None) -> ConcreteInstr:
    if distance is not None:
        prefixes = width - 1 or None  # a jump may have grown wider than it now has to be
        return ConcreteInstr(unit.name, distance, location=unit.location, extended_args=prefixes)
    if unit.taken is not None and unit.taken.size == 2 * width:
        unit.taken.location = unit.location
        return unit.taken
    if unit.taken is not None or unit.arg is not None:
        return ConcreteInstr(unit.name, _fixed_arg(unit), location=unit.location)
    return ConcreteInstr(unit.name, location=unit.location)


def _exception_table(listing: Listing, offsets: list[int]) -> Iterator[ExceptionTableEntry]:
    units = listing.units
    start = 0
    for i in range(1, len(units) + 1):
        cover = units[start].cover
        if i < len(units) and units[i].cover == cover:
            continue
        if cover is not None:
            handler = offsets[listing.labels[cover.handler]]
            yield ExceptionTableEntry(
                offsets[start], offsets[i] - 1, handler, cover.stack_depth, cover.push_lasti
            )
        start = i
