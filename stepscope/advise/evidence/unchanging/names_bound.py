"""Which names a piece of source binds, and which of them a loop carries on."""

import ast
import functools
from collections.abc import Iterable, Iterator

from stepscope.advise.evidence.source import Function, Text, last_line
from stepscope.advise.evidence.unchanging.changed_names import changed_places, inside


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    return {each.id for each in nodes if isinstance(each, ast.Name) and not _is_read(each)}


def parameters(function: Function) -> set[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {each.arg for each in named if each is not None}


def carried(body: list[ast.stmt]) -> set[str]:
    """Names that a turn of a loop reads before it has bound them: they are of the turn before."""
    nodes = list(inside(body))
    first: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and not _is_read(node):
            first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
    found = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and _is_read(node) and node.lineno < first.get(node.id, 0)
    }
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own = {name for each in targets for name in roots(each)}
            read = own if isinstance(node, ast.AugAssign) else _read_in(node.value)
            found |= {name for name in own & read if first.get(name) == node.lineno}
    return found


def roots(node: ast.expr) -> set[str]:
    """Names that a target binds or fills, without those whose attributes it sets."""
    if isinstance(node, ast.Tuple | ast.List):
        return {name for each in node.elts for name in roots(each)}
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def root_of(node: ast.expr) -> set[str]:
    """The name of the object that it is a part of. Of the method's own object, attributes tell."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} - {"self"} if isinstance(node, ast.Name) else set()


def last_name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def loops_around(body: list[ast.stmt], line: int) -> Iterator[ast.For | ast.While]:
    """The outermost first."""
    for node in body:
        for each in ast.walk(node):
            if not isinstance(each, ast.For | ast.While):
                continue
            if each.body[0].lineno <= line <= last_line(each):
                yield each


@functools.lru_cache(maxsize=64)
def constants(text: Text) -> frozenset[str]:
    """Names of a module that are bound once, outside of loops, and changed by nothing."""
    body = text.tree.body if text.tree else []
    places = [list(inside(body)), *(list(inside(each.body)) for each in text.functions())]
    changed = {
        name for nodes in places for _, place in changed_places(nodes) for name in root_of(place)
    }
    shared = [node for nodes in places for node in nodes if isinstance(node, ast.Global)]
    changed |= {name for node in shared for name in node.names}
    stores = [name for node in places[0] for name in bound([node])]
    once = [node for node in body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = {name for node in once for name in bound(ast.walk(node))}
    return frozenset(name for name in names - changed if stores.count(name) == 1)


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _read_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_read(each)}
