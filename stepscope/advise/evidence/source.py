"""The user's source texts as they were when they ran, and what depends on what in them."""

import ast
import functools
from collections.abc import Iterable, Iterator

from stepscope.analyze.run import shown_path
from stepscope.analyze.source_text import (
    Function,
    Loop,
    Text,
    last_line,
    lines_using,
    names_in,
    parsed,
    stored_names,
)
from stepscope.model import FunctionLines
from stepscope.store.reader import ProcessData, Run

__all__ = ["Function", "Loop", "Sources", "Text", "is_carried", "last_line", "lines_using"]


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
        return parsed(lines)

    def line(self, file: str, line: int) -> str | None:
        text = self.text(file)
        return text.lines[line - 1] if text and 0 < line <= len(text.lines) else None

    def definitions(self, name: str) -> list[Function]:
        """The user's functions and methods of that name."""
        texts = filter(None, map(self.text, self.files))
        return [each for text in texts for each in text.functions() if each.name == name]


# --- what depends on what -------------------------------------------------------------------------


def is_carried(loop: Loop) -> bool:
    """Whether a turn needs a result of the turn before, other than a sum or a list that grows.

    `state = step(state, x)` does; `total += x`, `out[i] = f(x)` and `found.append(x)` do not.
    """
    stored = set(stored_names(loop.target)) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    assigned = {name for each in loop.body for name in stored_names(each)}
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
            stays = not turning & set(names_in(place, ast.Load))
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
            reads = {name for head in heads for name in names_in(head, ast.Load)}
            yield reads, {name for head in heads for name in stored_names(head)}
            for block in blocks:
                yield from _in_order(block)
        elif not isinstance(statement, ast.AugAssign) and not _adds_up(statement):
            yield set(names_in(statement, ast.Load)), set(stored_names(statement))


def _adds_up(statement: ast.stmt) -> bool:
    """`total = total + x`, but not `x = x + layer(x)`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return False
    sides = [statement.value.left, statement.value.right]
    targets = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    others = [side for side in sides if not (isinstance(side, ast.Name) and side.id in targets)]
    return len(others) == 1 and not targets & set(names_in(others[0], ast.Load))


def _feeds_itself(statement: ast.AugAssign) -> bool:
    """`x += layer(x)`"""
    target = statement.target
    return isinstance(target, ast.Name) and target.id in set(names_in(statement.value, ast.Load))


def _only_counts(loop: Loop, name: str) -> bool:
    """`i += 1`: assigned in no other way."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.NamedExpr) and name in set(
            stored_names(node)
        ):
            return False
    return True
