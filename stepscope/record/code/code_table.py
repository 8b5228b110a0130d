"""Which code objects are recorded, under which id, with which loops."""

from collections.abc import Callable, Iterator
from types import CodeType

from stepscope.native import _core
from stepscope.record.code.loops import COMPREHENSIONS, Loop, find_loops
from stepscope.typed import Final, Record

LINES_AT_MOST = 200_000  # a generated file with more lines is not worth its counters
LAST_LINE = 2**31 - 2  # the native core counts them as ints, including one after the last
_BEFORE_A_MODULE = (0, 2, 0)  # its first instruction, which has no line and makes no event

# Flags of code objects, as in `inspect`, whose import takes longer than everything else here.
_CO_NEWLOCALS: Final = 0x2
_KINDS: Final = ((0x200, "async generator"), (0x80, "coroutine"), (0x20, "generator"))


class CodeEntry(Record):
    """A registered code object."""

    id: int
    code: CodeType  # the one that runs: with ticks on 3.11
    first_line: int
    line_count: int
    kind: str
    loops: tuple[Loop, ...]
    loop_ids: tuple[int, ...]


def kind_of(code: CodeType) -> str:
    if code.co_name == "<module>":
        return "module"
    if code.co_name == "<lambda>":
        return "lambda"
    if code.co_name in COMPREHENSIONS:
        return "comprehension"
    for flag, kind in _KINDS:
        if code.co_flags & flag:
            return kind
    return "function" if code.co_flags & _CO_NEWLOCALS else "class"


def tree(code: CodeType) -> Iterator[CodeType]:
    """The code and all code nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from tree(constant)


def line_range(code: CodeType) -> tuple[int, int]:
    """First line and number of lines; (0, 0) if generated code has lines that no file has."""
    lines = [
        line
        for start, end, line in code.co_lines()
        if line is not None and (start, end, line) != _BEFORE_A_MODULE
    ]
    lines.append(code.co_firstlineno or min(lines, default=0))
    first, last = min(lines), max(lines)
    if first < 1 or last > LAST_LINE or last - first >= LINES_AT_MOST:
        return 0, 0
    return first, last - first + 1


class CodeTable:
    """The process's recorded code. Ids never change; the same source compiled again shares one."""

    def __init__(self) -> None:
        self.entries: list[CodeEntry] = []
        self.on_new: Callable[[CodeEntry], None] | None = None
        self._by_key: dict[tuple[object, ...], CodeEntry] = {}
        self._refused: set[tuple[object, ...]] = set()
        self._last_id = 0
        self._loops: list[Loop] = []

    @staticmethod
    def _key(code: CodeType) -> tuple[object, ...]:
        # Another reference to the table itself would change the result of marshal.dumps.
        content = code.co_code + code.co_linetable
        return (code.co_filename, code.co_qualname, code.co_firstlineno, content)

    def find(self, code: CodeType) -> CodeEntry | None:
        return self._by_key.get(self._key(_core.original_code(code)))

    def loop(self, loop_id: int) -> Loop:
        return self._loops[loop_id - 1]

    def file_of(self, loop_id: int) -> str:
        """The source file of a loop."""
        files = (each.code.co_filename for each in self.entries if loop_id in each.loop_ids)
        return next(files, "")

    def add(self, code: CodeType, original: CodeType, *, exact: bool) -> CodeEntry | None:
        """Register `code` (`original` without ticks); None when it cannot be recorded."""
        key = self._key(original)
        known = self._by_key.get(key)
        if key in self._refused:
            return None
        if known is not None:
            _core.lines_alias(code, known.code)
            if exact:
                _core.lines_set_exact(known.code)
            return known
        entry = self._describe(code, original)
        if not entry.line_count:
            self._refused.add(key)
            return None
        if self.on_new is not None:
            self.on_new(entry)
        stamped = tuple(
            (loop.line, number) for loop, number in zip(entry.loops, entry.loop_ids, strict=False)
        )
        if not _core.lines_register(
            code, entry.id, entry.first_line, entry.line_count, stamped, exact
        ):
            self._refused.add(key)  # no space: do not name it again whenever it runs
            return None
        self.entries.append(entry)
        self._by_key[key] = entry
        return entry

    def forget(self, code: CodeType) -> None:
        """Remove code that only we registered. It must not be running."""
        entry = self.find(code)
        if entry is not None:
            self.entries.remove(entry)
            del self._by_key[self._key(_core.original_code(code))]
            _core.lines_forget(entry.code)

    def _describe(self, code: CodeType, original: CodeType) -> CodeEntry:
        loops = find_loops(original)
        first_id = len(self._loops) + 1
        self._loops.extend(loops)
        self._last_id += 1
        first_line, count = line_range(original)
        return CodeEntry(
            id=self._last_id,
            code=code,
            first_line=first_line,
            line_count=count,
            kind=kind_of(original),
            loops=loops,
            loop_ids=tuple(range(first_id, first_id + len(loops))),
        )


table = CodeTable()
