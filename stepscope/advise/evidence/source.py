"""The user's source text as it was when it ran: statements, loops, and what depends on what."""

import ast
import collections
import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Final

from stepscope.analyze.run import shown_path
from stepscope.model import FunctionLines
from stepscope.store.reader import ProcessData, Run

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


class Sources:
    """The user's files that were recorded."""

    def __init__(self, functions: Iterable[FunctionLines], run: Run, process: ProcessData) -> None:
        self._run = run
        self._names = {
            shown_path(run, file.path): file.source for file in process.names.files.values()
        }
        self.files = sorted({function.file for function in functions})

    @functools.cache  # noqa: B019  # lives as long as the case does
    def text(self, file: str) -> Text | None:
        lines = self._run.source_lines(self._names.get(file))
        if lines is None:
            return None
        try:
            return Text(lines, ast.parse("\n".join(lines)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Text(lines, None)

    def line(self, file: str, line: int) -> str | None:
        text = self.text(file)
        return text.lines[line - 1] if text and 0 < line <= len(text.lines) else None

    def definitions(self, name: str) -> list[Function]:
        """The user's functions and methods of that name."""
        texts = filter(None, map(self.text, self.files))
        return [each for text in texts for each in text.functions() if each.name == name]


# --- what is done with something that a line makes ------------------------------------------------


def lines_using(text: Text, line: int) -> set[int]:
    """The statement at a line (of a `with`, its body too), and simple ones further down in the same
    function that read from what it made: `data["x"]`, `file.read()`."""
    statement, function = text.statement_at(line), text.function_at(line)
    if statement is None:
        return {line}
    names = set(_stores(statement))
    found = set(range(statement.lineno, last_line(statement) + 1))
    body = function.body if function else (text.tree.body if text.tree else [])
    for each in ast.walk(ast.Module(list(body), [])):
        if isinstance(each, ast.stmt) and each.lineno > line and _takes_out(each, names):
            found |= set(range(each.lineno, last_line(each) + 1))
    return found


def _takes_out(statement: ast.stmt, names: set[str]) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr):
        return False
    for node in ast.walk(statement):
        taken = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        if isinstance(taken, ast.Name) and taken.id in names:
            return True
    return False


# --- what depends on what -------------------------------------------------------------------------


def is_carried(loop: Loop) -> bool:
    """Whether a turn needs a result of the turn before, other than a sum or a list that grows.

    `state = step(state, x)` does; `total += x`, `out[i] = f(x)` and `found.append(x)` do not.
    """
    stored = set(_stores(loop.target)) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    assigned = {name for each in loop.body for name in _stores(each)}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and _recurs(node, stored | assigned):
            return True
        if isinstance(node, ast.AugAssign) and _feeds_itself(node):
            return True
    for reads, writes in _in_order(loop.body):
        for name in reads:
            if name in assigned and name not in stored and not _only_counts(loop, name):
                return True
        stored |= writes
    return False


def _recurs(statement: ast.Assign, turning: set[str]) -> bool:
    """`x[t] = f(x[t + 1])`, `self.h = f(self.h)`: what is stored was read at another place of the
    same thing, or at one that stays the same in every turn. `turning`: names that change in it."""
    places = [each for each in statement.targets if isinstance(each, ast.Subscript | ast.Attribute)]
    for place in places:
        holder = ast.unparse(place.value)
        for node in ast.walk(statement.value):
            if not isinstance(node, type(place)) or ast.unparse(node.value) != holder:
                continue
            is_same = ast.unparse(node) == ast.unparse(place)
            stays = not turning & set(_names(place, ast.Load))
            if stays if is_same else isinstance(node, ast.Subscript):
                return True
    return False


def _in_order(body: Iterable[ast.stmt]) -> Iterator[tuple[set[str], set[str]]]:
    """(names read, names written) of each simple statement, and of what decides about blocks.
    Sums are left out."""
    for statement in body:
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if any(blocks):
            heads = [
                inner
                for name in ("test", "iter", "target")
                if isinstance(inner := getattr(statement, name, None), ast.expr)
            ]
            reads = {name for head in heads for name in _names(head, ast.Load)}
            yield reads, {name for head in heads for name in _stores(head)}
            for block in blocks:
                yield from _in_order(block)
        elif not isinstance(statement, ast.AugAssign) and not _adds_up(statement):
            yield set(_names(statement, ast.Load)), set(_stores(statement))


def _adds_up(statement: ast.stmt) -> bool:
    """`total = total + x`, but not `x = x + layer(x)`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return False
    sides = [statement.value.left, statement.value.right]
    targets = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    others = [side for side in sides if not (isinstance(side, ast.Name) and side.id in targets)]
    return len(others) == 1 and not targets & set(_names(others[0], ast.Load))


def _feeds_itself(statement: ast.AugAssign) -> bool:
    """`x += layer(x)`"""
    target = statement.target
    return isinstance(target, ast.Name) and target.id in set(_names(statement.value, ast.Load))


def _only_counts(loop: Loop, name: str) -> bool:
    """`i += 1`: assigned in no other way."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr) and name in set(
            _stores(node)
        ):
            return False
    return True


def _stores(node: ast.AST) -> Iterator[str]:
    yield from _names(node, ast.Store)


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, context):
            yield inner.id
