"""The `for` and `while` loops of a code object, read from its bytecode.

A loop is stamped at the line whose LINE event fires once when it is entered and once for every
further turn:
- `for` and `while condition`: the header line; n turns fire n + 1 times, the last is its end.
- `while True`: the first line of the body; n turns fire n times.
Loops of comprehensions, and the send loops of `await` and `yield from`, are left out. So is a
`while True` that cannot be told from the loop it begins with.
"""

import dataclasses
import dis
import sys
from types import CodeType
from typing import Final

_OPS: Final = dis.opmap
_EXTENDED: Final = _OPS["EXTENDED_ARG"]
_BACKWARD: Final = frozenset(
    number
    for name, number in _OPS.items()
    if "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name and "INSTRUMENTED" not in name
)
_APPENDS: Final = frozenset(_OPS[name] for name in ("LIST_APPEND", "SET_ADD", "MAP_ADD"))
_COMPREHENSIONS: Final = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclasses.dataclass(frozen=True)
class Loop:
    line: int  # where it is stamped
    last_line: int
    parent: int | None  # index of the enclosing loop


@dataclasses.dataclass
class _Span:
    """From the target of the backward jumps to the last of them, in bytes."""

    first: int
    last: int
    comprehension: bool = False


def find_loops(code: CodeType) -> tuple[Loop, ...]:
    """Steps: the backward jumps; a span for each of their targets; comprehensions out; the line of
    each; the nesting."""
    opcodes = code.co_code[::2]
    if code.co_name in _COMPREHENSIONS or not any(op in opcodes for op in _BACKWARD):
        return ()
    spans = [span for span in _spans(code.co_code) if not span.comprehension]
    lines = _line_of_each(code)
    kept: list[tuple[_Span, int]] = []
    taken: set[int] = set()
    for span in sorted(spans, key=lambda each: each.last - each.first):  # inner ones first
        line = _stamp_line(span, spans, lines, taken)
        if line is not None:
            taken.add(line)
            kept.append((span, line))
    kept.sort(key=lambda each: (each[0].first, -each[0].last))
    parents = _parents([span for span, _ in kept])
    return tuple(
        Loop(line=line, last_line=max(line, _last_line(span, lines)), parent=parent)
        for (span, line), parent in zip(kept, parents, strict=True)
    )


def _spans(bytecode: bytes) -> list[_Span]:
    found: dict[int, _Span] = {}
    appends: list[tuple[int, int]] = []
    argument = 0
    cache_sizes = _CACHES
    offset = 0
    while offset < len(bytecode):
        opcode = bytecode[offset]
        argument |= bytecode[offset + 1]
        if opcode == _EXTENDED:
            argument <<= 8
            offset += 2
            continue
        after = offset + 2 + 2 * cache_sizes[opcode]
        if opcode in _BACKWARD:
            target = after - 2 * argument
            found.setdefault(target, _Span(target, offset)).last = offset
        elif opcode in _APPENDS:
            appends.append((offset, argument))
        argument = 0
        offset = after
    _mark_comprehensions(list(found.values()), appends)
    return list(found.values())


def _caches() -> tuple[int, ...]:
    """How many inline cache entries follow each opcode."""
    sizes = [0] * 256
    entries = dis._inline_cache_entries  # type: ignore[attr-defined]  # no public table before 3.14
    for number in range(256):
        name = dis.opname[number]
        sizes[number] = entries[number] if isinstance(entries, list) else entries.get(name, 0)
    if sys.version_info < (3, 12):  # 3.11 counts a backward jump from behind itself, without cache
        return tuple(sizes)
    return tuple(sizes)


_CACHES: Final = _caches()


def _mark_comprehensions(spans: list[_Span], appends: list[tuple[int, int]]) -> None:
    """LIST_APPEND i in a comprehension lies in i - 1 loops of its own; in `[*a, b]` i is 1."""
    for offset, depth in appends:
        around = [span for span in spans if span.first <= offset <= span.last]
        around.sort(key=lambda span: span.last - span.first)
        for span in around[: depth - 1]:
            span.comprehension = True


def _line_of_each(code: CodeType) -> list[tuple[int, int, int]]:
    return [(begin, end, line) for begin, end, line in code.co_lines() if line]


def _line_at(offset: int, lines: list[tuple[int, int, int]]) -> int | None:
    for begin, end, line in lines:
        if begin <= offset < end:
            return line
        if begin > offset:
            return line  # an instruction without a line belongs to what follows
    return None


def _last_line(span: _Span, lines: list[tuple[int, int, int]]) -> int:
    inside = [line for begin, end, line in lines if begin <= span.last and end > span.first]
    return max(inside, default=0)


def _stamp_line(
    span: _Span, spans: list[_Span], lines: list[tuple[int, int, int]], taken: set[int]
) -> int | None:
    """`while condition` tests at its end: there the jump's line lies before its target's."""
    target, source = _line_at(span.first, lines), _line_at(span.last, lines)
    if target is None or source is None:
        return None
    line = source if source < target else target
    if line not in taken:
        return line
    inner = [each for each in spans if span.first <= each.first and each.last < span.last]
    inner_lines = {
        number
        for each in inner
        for begin, end, number in lines
        if begin <= each.last and end > each.first
    }
    return source if source not in inner_lines | taken else None


def _parents(spans: list[_Span]) -> list[int | None]:
    """Of each span the innermost one around it; spans are sorted by their begin."""
    parents: list[int | None] = []
    for number, span in enumerate(spans):
        around = [
            other for other in range(number) if spans[other].last >= span.last
        ]
        parents.append(around[-1] if around else None)
    return parents
