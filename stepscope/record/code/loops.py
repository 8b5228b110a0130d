"""Finds the loops of a code object in its bytecode, and the line that marks their iterations.

What a consumer may rely on when it counts line events of `Loop.line` in one activation:
- `for` and `async for` of n turns: n + 1 events (one on entry, one after each turn; one less after
  a `break` or `return`). A header over several lines may give more of them on entry.
- `while condition` of n turns: n + 1 events, one for each evaluation of the condition.
- `while True` of n turns: n events, of its own line or one of its body. The same for a condition
  over several lines that is visited more than once to evaluate it.
Comprehensions and the hidden loops of await and yield from are left out. So is a `while` without
a line that is known to run exactly once per turn and, from 3.12 on, a loop on a single line: its
turns give no events there. A loop that the compiler copied (into each way out of a `finally`) is
one loop here.
"""

import sys
from collections.abc import Collection
from types import CodeType

from stepscope.record.code.code_units import (
    BACK_JUMPS,
    BACK_TESTS,
    CACHE,
    ENDS,
    EXTENDED_ARG,
    JUMPS,
    OPCODES,
    CodeUnits,
)
from stepscope.typed import Record

_VERSION = sys.version_info[:2]
_NOP = OPCODES["NOP"]
_SWAP = OPCODES["SWAP"]
_FOR_ITER = OPCODES["FOR_ITER"]
_GET_ANEXT = OPCODES["GET_ANEXT"]
_SEND = OPCODES["SEND"]
_BUILDERS = frozenset(OPCODES[name] for name in ("BUILD_LIST", "BUILD_SET", "BUILD_MAP"))
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class Loop(Record):
    """A loop of the source; `parent` is the index of the enclosing one in the same result."""

    line: int
    last_line: int
    parent: int | None


class _Found:
    """A loop of the bytecode; positions count code units of two bytes."""

    def __init__(self, start: int) -> None:
        self.start = start  # where its back jumps lead
        self.jumps: list[int] = []
        self.test: int | None = None  # `while condition`: where the condition's copy begins
        self.line: int | None = None
        self.body: Collection[int] = ()


def find_loops(code: CodeType) -> tuple[Loop, ...]:
    """The loops of `code` itself, without those of nested functions, in order of their lines."""
    if code.co_name in COMPREHENSIONS:
        return ()
    words = code.co_code
    if not any(jump in words for jump in BACK_JUMPS):  # fast, and nearly always right
        return ()
    return _Finder(CodeUnits(code)).run()


class _Finder:
    def __init__(self, units: CodeUnits) -> None:
        self._units = units

    def run(self) -> tuple[Loop, ...]:
        """1. Group the backward jumps by their target. 2. Drop comprehensions and other non-loops.
        3. Join the targets of one `while`. 4. Choose each loop's line, innermost first. 5. Nest."""
        found = [loop for loop in self._grouped().values() if self._is_loop(loop)]
        found = self._without_comprehensions(found)
        found = self._join_endless(self._join_whiles(found))
        for loop in found:
            loop.body = self._body(loop)
        for loop in sorted(found, key=lambda loop: -loop.start):
            loop.line = self._choose_line(loop, found)
        return self._nested([loop for loop in found if loop.line is not None])

    # --- finding --------------------------------------------------------------------------------

    def _grouped(self) -> dict[int, _Found]:
        groups: dict[int, _Found] = {}
        for jump in BACK_JUMPS:
            at = self._units.operations.find(jump)
            while at >= 0:
                target = self._units.target(at)
                groups.setdefault(target, _Found(target)).jumps.append(at)
                at = self._units.operations.find(jump, at + 1)
        return groups

    def _counts_itself(self, loop: _Found) -> bool:
        return self._units.operation(loop.start) in (_FOR_ITER, _GET_ANEXT)

    def _is_loop(self, loop: _Found) -> bool:
        """Handlers at the end of a function jump back too, to where execution continues."""
        if self._counts_itself(loop):
            return True
        if self._units.operation(loop.start) == _SEND:  # await and yield from
            return False
        ahead = self._units.ahead(loop.start)
        loop.jumps = [jump for jump in loop.jumps if jump in ahead]
        return bool(loop.jumps)

    def _without_comprehensions(self, found: list[_Found]) -> list[_Found]:
        """From 3.12 on they are part of the function: BUILD_LIST 0; SWAP 2; FOR_ITER."""
        if _VERSION < (3, 12):
            return found
        spans = [
            range(loop.start, max(loop.jumps) + 1)
            for loop in found
            if self._counts_itself(loop)
            and self._units.operations[loop.start - 1] == _SWAP
            and self._units.operations[loop.start - 2] in _BUILDERS
        ]
        return [loop for loop in found if not any(loop.start in span for span in spans)]

    def _join_whiles(self, found: list[_Found]) -> list[_Found]:
        """`while condition` is compiled as: condition, body, condition again, jump to the body;
        `continue` jumps to the first condition."""
        by_start = {loop.start: loop for loop in found}
        for loop in found:
            if self._counts_itself(loop):
                continue
            twin = self._copied_test(loop)
            if twin is None:
                continue
            first, loop.test = twin
            other = by_start.pop(first, None) if first != loop.start else None
            if other is not None:
                loop.jumps += other.jumps
        return list(by_start.values())

    def _join_endless(self, found: list[_Found]) -> list[_Found]:
        """`continue` may jump to the NOP of its `while True`, the end of the body past that."""
        by_start = {loop.start: loop for loop in found}
        for loop in found:
            behind = loop.start
            while self._units.operations[behind] == _NOP:
                behind += 1
            other = by_start.get(behind)
            if other is None or other is loop:
                continue
            lines = [self._units.lines[at] or 0 for at in self._natural_body(other)]
            if all(min(lines) < (self._units.lines[at] or 0) <= max(lines) for at in loop.jumps):
                other.jumps += loop.jumps
                del by_start[loop.start]
        return list(by_start.values())

    def _copied_test(self, loop: _Found) -> tuple[int, int] | None:
        """Where the first condition and its copy begin, walking back from the two ends at once."""
        upper = loop.start - 1
        lower = max(loop.jumps)
        if self._units.operations[lower] not in BACK_TESTS:
            lower -= 1
            if self._units.operations[lower] == EXTENDED_ARG:
                lower -= 1
        matched = None
        while upper >= 0 and lower >= loop.start and self._same(upper, lower):
            if self._units.operations[upper] != CACHE:
                matched = (upper, lower)
            upper, lower = upper - 1, lower - 1
        return matched

    def _same(self, upper: int, lower: int) -> bool:
        if self._units.lines[upper] is None or self._units.lines[upper] != self._units.lines[lower]:
            return False
        ours, theirs = self._units.operations[upper], self._units.operations[lower]
        if ours in JUMPS and theirs in JUMPS:
            return True
        return ours == theirs and self._units.arguments[upper] == self._units.arguments[lower]

    def _body(self, loop: _Found) -> Collection[int]:
        """A plain `for` ends where its exhaustion leads; otherwise what leads to a back jump."""
        if self._units.operation(loop.start) == _FOR_ITER:
            head = loop.start
            while self._units.operations[head] == EXTENDED_ARG:
                head += 1
            span = range(loop.start, self._units.target(head))
            if max(loop.jumps) in span:
                return span
            return self._natural_body(loop) | set(span)
        return self._natural_body(loop)

    def _natural_body(self, loop: _Found) -> set[int]:
        came_from = self._units.ahead(loop.start)
        body = {loop.start}
        waiting = [jump for jump in loop.jumps if jump in came_from]
        while waiting:
            at = waiting.pop()
            if at not in body:
                body.add(at)
                waiting += came_from[at]
        return body

    # --- the line that marks iterations -----------------------------------------------------------

    def _choose_line(self, loop: _Found, found: list[_Found]) -> int | None:
        if _VERSION >= (3, 12) and len({self._units.lines[at] for at in loop.body} - {None}) == 1:
            return None
        if self._counts_itself(loop):
            return self._units.lines[loop.start]
        inner = {other.line for other in found if other is not loop and other.start in loop.body}
        candidates = [] if loop.test is None else self._straight_lines(loop.test)
        for line in candidates + self._straight_lines(loop.start):
            if line not in inner and self._visits(loop, line) == 1:
                return line
        if len(loop.jumps) == 1:
            line_of_jump = self._units.lines[loop.jumps[0]]
            if line_of_jump not in inner and self._visits(loop, line_of_jump) == 1:
                return line_of_jump
        return None

    def _straight_lines(self, at: int) -> list[int]:
        """The lines that follow without a branch."""
        lines: list[int] = []
        while at < len(self._units.operations):
            line = self._units.lines[at]
            if line is not None and line not in lines:
                lines.append(line)
            if self._units.operations[at] in JUMPS or self._units.operations[at] in ENDS:
                break
            at += 1
        return lines

    def _visits(self, loop: _Found, line: int | None) -> int:
        """In how many places of the body the line begins."""
        lines = self._units.lines
        return sum(
            lines[at] == line and (at == loop.start or lines[at - 1] != line)
            for at in range(loop.start, max(loop.jumps) + 1)
            if at in loop.body
        )

    # --- nesting ----------------------------------------------------------------------------------

    def _nested(self, found: list[_Found]) -> tuple[Loop, ...]:
        copies: dict[int, list[_Found]] = {}
        for loop in found:
            assert loop.line is not None
            copies.setdefault(loop.line, []).append(loop)
        lines = sorted(copies)
        return tuple(
            Loop(line, self._last_line(copies[line]), _parent(line, lines, copies))
            for line in lines
        )

    def _last_line(self, copies: list[_Found]) -> int:
        first = min(loop.line for loop in copies if loop.line is not None)
        after = min((self._line_after(loop) for loop in copies), default=sys.maxsize)
        inside = (self._units.lines[at] for loop in copies for at in loop.body)
        return max((line for line in inside if line is not None and line < after), default=first)

    def _line_after(self, loop: _Found) -> int:
        """Where a `for` continues: a `return` in its body may contain copies of later lines."""
        if self._units.operation(loop.start) != _FOR_ITER or loop.line is None:
            return sys.maxsize
        head = loop.start
        while self._units.operations[head] == EXTENDED_ARG:
            head += 1
        for at in range(self._units.target(head), len(self._units.operations)):
            line = self._units.lines[at]
            if line is not None and line != loop.line:
                return line if line > loop.line else sys.maxsize
            if self._units.operations[at] in ENDS:
                break
        return sys.maxsize


def _parent(line: int, lines: list[int], copies: dict[int, list[_Found]]) -> int | None:
    """The innermost loop that contains every copy of this one."""
    best: int | None = None
    size = sys.maxsize
    for index, other in enumerate(lines):
        if other == line:
            continue
        holds = all(
            any(inner.start in outer.body and inner is not outer for outer in copies[other])
            for inner in copies[line]
        )
        extent = min(len(outer.body) for outer in copies[other])
        if holds and extent < size:
            best, size = index, extent
    return best
