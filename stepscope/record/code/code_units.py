"""A code object's bytecode in code units of two bytes: its jumps, its lines, its control flow.

Must be fast: it runs in the user's process for every function that has a backward jump.
"""

import opcode
from types import CodeType

OPCODES = opcode.opmap
BACK_JUMPS = tuple(number for name, number in OPCODES.items() if "JUMP_BACKWARD" in name)
BACK_TESTS = tuple(number for name, number in OPCODES.items() if "JUMP_BACKWARD_IF" in name)
JUMPS = frozenset(opcode.hasjrel)
ENDS = frozenset(
    OPCODES[name]
    for name in (
        "JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT "
        "RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE"
    ).split()
    if name in OPCODES
)
EXTENDED_ARG = OPCODES["EXTENDED_ARG"]
CACHE = OPCODES["CACHE"]


class CodeUnits:
    """`operations`, `arguments` and `lines` by position."""

    def __init__(self, code: CodeType) -> None:
        words = code.co_code
        self.operations = words[::2]
        self.arguments = words[1::2]
        self.lines: list[int | None] = [None] * len(self.operations)
        for start, end, line in code.co_lines():
            self.lines[start // 2 : end // 2] = [line] * ((end - start) // 2)
        self._table = code.co_exceptiontable
        self._handlers: dict[int, int] | None = None

    def target(self, at: int) -> int:
        argument, shift, before = self.arguments[at], 8, at - 1
        while before >= 0 and self.operations[before] == EXTENDED_ARG:
            argument |= self.arguments[before] << shift
            shift, before = shift + 8, before - 1
        after = at + 1
        while after < len(self.operations) and self.operations[after] == CACHE:
            after += 1
        backward = self.operations[at] in BACK_JUMPS
        return after - argument if backward else after + argument

    def operation(self, at: int) -> int:
        while self.operations[at] == EXTENDED_ARG:
            at += 1
        return self.operations[at]

    def _successors(self, at: int) -> list[int]:
        """Where control may go next."""
        operation = self.operations[at]
        following = [] if operation in ENDS else [at + 1]
        if operation in JUMPS:
            following.append(self.target(at))
        handler = self._handler(at)
        if handler is not None:
            following.append(handler)
        return following

    def ahead(self, start: int) -> dict[int, list[int]]:
        """What can be reached from `start` without passing it or anything before it, each with its
        origin."""
        came_from: dict[int, list[int]] = {start: []}
        waiting = [start]
        while waiting:
            at = waiting.pop()
            for following in self._successors(at):
                if following <= start or following >= len(self.operations):
                    continue
                if following not in came_from:
                    came_from[following] = []
                    waiting.append(following)
                came_from[following].append(at)
        return came_from

    def _handler(self, at: int) -> int | None:
        if self._handlers is None:
            self._handlers = _handlers(self._table)
        return self._handlers.get(at)


def _handlers(table: bytes) -> dict[int, int]:
    """Position to the position of its handler, from the exception table's variable-length ints."""
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = (value << 6) | (byte & 63)
        if not byte & 64:
            numbers.append(value)
            value = 0
    handlers: dict[int, int] = {}
    for i in range(0, len(numbers), 4):
        start, length, target = numbers[i : i + 3]
        handlers.update(dict.fromkeys(range(start, start + length), target))
    return handlers
