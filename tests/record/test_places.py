"""Python 3.11: where instructions are in the code with ticks and in the code without."""

import dis
import sys
from types import CodeType
from typing import Any

import pytest

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from stepscope.record.bytecode import instrument, ticked

LONG = "def f(x):\n" + "".join(f"  x = x + {n} if x > {n}.5 else x\n" for n in range(300))
ODD = """
async def f(things):
    async with things as thing:
        async for each in thing:
            yield await each
    try:
        return
    finally:
        print(things)
"""


@pytest.mark.parametrize("source", [LONG, ODD, "def f():\n  x = yield from g()\n  return x"])
def test_the_places_of_instructions_are_known_in_both_codes(source: str) -> None:
    found: list[tuple[CodeType, CodeType, bytes, bytes]] = []

    def see(*what: Any) -> bool:
        found.append(what)
        return True

    ticked.bind(instrument.instrument(compile(source, "<t>", "exec")), lambda *what: 1, see)
    for code, original, places, _ in found:
        at = -1
        for number, instruction in enumerate(instructions(original)):
            at += places[3 * number + 1]
            name = dis.opname[code.co_code[2 * at]]
            assert name == instruction.opname
            position = instruction.offset // 2
            assert sum(places[: 3 * number + 1 : 3]) - 1 == position
            assert lines_by_unit(code)[at] == lines_by_unit(original)[position]


def instructions(code: CodeType) -> list[dis.Instruction]:
    return [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]


def lines_by_unit(code: CodeType) -> list[int | None]:
    return [position[0] for position in code.co_positions()]
