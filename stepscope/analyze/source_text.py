"""The text of a source file as it was when it ran, and what is done with something a line makes."""

import ast
import collections
import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

Loop = ast.For | ast.AsyncFor | ast.While
Function = ast.FunctionDef | ast.AsyncFunctionDef
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPERATIONS: Final = (
    ast.AugAssign, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp,
)  # fmt: skip
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass(frozen=True, eq=False)
class Text:
    """One file. Without a tree if it needs another Python's grammar."""

    lines: list[str]
    tree: ast.Module | None

    @functools.cached_property
    def imported(self) -> frozenset[str]:
        """Names of modules and of what was imported from them."""
        imports = (
            node
            for node in (ast.walk(self.tree) if self.tree else ())
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
        names = (alias.asname or alias.name for node in imports for alias in node.names)
        return frozenset(name.partition(".")[0] for name in names)

    def loops(self) -> Iterator[Loop]:
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, _LOOPS):
                yield node

    def functions(self) -> Iterator[Function]:
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, _FUNCTIONS):
                yield node

    def function_at(self, line: int) -> Function | None:
        """The innermost one around a line."""
        around = [each for each in self.functions() if each.lineno <= line <= last_line(each)]
        return max(around, key=lambda each: each.lineno, default=None)

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost one that spans a line."""
        found: ast.stmt | None = None
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, ast.stmt) and node.lineno <= line <= last_line(node):
                inner = found is None or (node.lineno, -last_line(node)) >= (
                    found.lineno,
                    -last_line(found),
                )
                found = node if inner else found
        return found

    def operations(self, line: int) -> int:
        """Calls, sums, comparisons and look-ups that begin in a line."""
        return self._operations[line]

    @functools.cached_property
    def _operations(self) -> collections.Counter[int]:
        nodes = ast.walk(self.tree) if self.tree else ()
        return collections.Counter(node.lineno for node in nodes if isinstance(node, _OPERATIONS))

    def has_comprehension(self, line: int) -> bool:
        statement = self.statement_at(line)
        if statement is None:
            return False
        return any(
            isinstance(node, _COMPREHENSIONS) and node.lineno <= line <= (node.end_lineno or line)
            for node in ast.walk(statement)
        )


def last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def starts_at(loop: Loop, line: int) -> bool:
    """Whether a loop with its header at this line was recorded; of a `while`, its first line may
    stand for it."""
    return loop.lineno == line or (isinstance(loop, ast.While) and loop.body[0].lineno == line)


def parsed(lines: list[str]) -> Text:
    try:
        return Text(lines, ast.parse("\n".join(lines)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Text(lines, None)


def lines_using(text: Text, line: int) -> set[int]:
    """The statement at a line (of a `with`, its body too), and simple ones further down in the same
    function that read from what it made: `data["x"]`, `file.read()`."""
    statement, function = text.statement_at(line), text.function_at(line)
    if statement is None:
        return {line}
    names = set(stored_names(statement))
    found = set(range(statement.lineno, last_line(statement) + 1))
    body = function.body if function else (text.tree.body if text.tree else [])
    for each in ast.walk(ast.Module(list(body), [])):
        if isinstance(each, ast.stmt) and each.lineno > line and _takes_out(each, names):
            found |= set(range(each.lineno, last_line(each) + 1))
    return found


def header_lines(text: Text, line: int) -> range:
    """The lines of the statement at a line, without its body."""
    statement = text.statement_at(line)
    if statement is None:
        return range(line, line + 1)
    body = getattr(statement, "body", None)
    end = body[0].lineno if body else last_line(statement) + 1
    return range(statement.lineno, max(end, statement.lineno + 1))


def _takes_out(statement: ast.stmt, names: set[str]) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr):
        return False
    for node in ast.walk(statement):
        taken = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        if isinstance(taken, ast.Name) and taken.id in names:
            return True
    return False


def stored_names(node: ast.AST) -> Iterator[str]:
    yield from names_in(node, ast.Store)


def names_in(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, context):
            yield inner.id
