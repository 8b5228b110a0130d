"""Statements of the step loop whose results no later step needs: reports, metrics, bookkeeping.

1. Each statement of the loop's body reads names and writes names. A method call writes its object,
   a call whose result is unused writes its arguments, unless the user's own function of that name
   shows that it changes none of them. Changing a part of something changes the whole.
2. A statement depends on the ones that write what it reads, in this turn or the one before.
3. Statements that depend on each other, turn after turn, are a ring: the training is the ring with
   a call that is named like one, else the one that takes the most time. What it does not depend on,
   directly or indirectly, is idle.
4. Generators of random numbers tie nothing together; and what calls itself evaluation is idle,
   whatever it leaves behind in the model.
"""

import ast
import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from stepscope.analyze.source_text import Function, Loop, Text, last_line, starts_at
from stepscope.model import Location

_REPORTS: Final = frozenset(
    {"print", "append", "extend", "write", "info", "debug", "warning", "log", "flush", "writerow",
     "add_scalar", "dumps", "format", "items", "keys", "values", "mean", "sum", "max", "min",
     "argmax", "astype", "copy", "reshape", "dot", "round", "item", "tolist", "join", "std"}
)  # fmt: skip
_Parts = dict[str, set[str]]  # a name to the names that it may be a part of
_HAND_ON: Final = frozenset(
    {"zip", "enumerate", "list", "tuple", "dict", "reversed", "getattr", "vars", "values", "items",
     "parameters", "view", "reshape", "ravel"}
)  # fmt: skip
EVALUATES: Final = re.compile(r"_?(eval|evaluate|validate|validation|test)(_|$)", re.I)
_TRAINS: Final = re.compile(r"_?(train|learn|fit|backward|optimi[sz]e)(_|$)", re.I)
_RANDOM: Final = re.compile(r"(^|_)(rng|random|generator|gen|seed|key)(_|s?$)", re.I)
# How many functions of one name, and how many levels of calls: enough for scripts, and bounded.
_MOST_DEFINITIONS: Final = 4
_DEEPEST: Final = 8
_GROWS: Final = frozenset({"append", "extend", "add", "write", "writerow", "put"})


class Sources(Protocol):
    """The user's files that were recorded."""

    def text(self, file: str) -> Text | None: ...

    def definitions(self, name: str) -> list[Function]:
        """The user's functions and methods of that name."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class _Statement:
    node: ast.stmt
    reads: frozenset[str]
    writes: frozenset[str]

    @property
    def is_named_training(self) -> bool:
        calls = (each for each in ast.walk(self.node) if isinstance(each, ast.Call))
        return any(_TRAINS.match(_name(call)) for call in calls)


def idle_lines(sources: Sources, header: Location, ns_by_line: dict[int, float]) -> dict[int, int]:
    """Line to the first line of the idle statement it belongs to. `ns_by_line`: of the loop."""
    text = sources.text(header.file)
    loop = (
        next((each for each in text.loops() if starts_at(each, header.line)), None)
        if text
        else None
    )
    if loop is None:
        return {}
    modules = text.imported if text else frozenset()
    parts = _parts(loop)
    statements = [_statement(sources, node, modules, parts) for node in _in_a_turn(loop)]
    needed = _needed(statements, [_ns(each.node, ns_by_line) for each in statements])
    return {
        line: each.node.lineno
        for index, each in enumerate(statements)
        if index not in needed and not isinstance(each.node, ast.Break | ast.Continue | ast.Pass)
        for line in range(each.node.lineno, last_line(each.node) + 1)
    }


def _in_a_turn(loop: Loop) -> Iterator[ast.stmt]:
    """The condition of a `while` is computed in every turn too; what it decides is only whether
    there is another one."""
    if isinstance(loop, ast.While):
        yield ast.copy_location(ast.Expr(loop.test), loop.test)
    yield from _flat(loop.body)


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements inside `with` and `try` count one by one; an `if` is one statement."""
    for node in body:
        if isinstance(node, ast.With | ast.Try):
            yield from _flat(node.body)
        else:
            yield node


def _ns(node: ast.stmt, ns_by_line: dict[int, float]) -> float:
    return sum(ns_by_line.get(line, 0.0) for line in range(node.lineno, last_line(node) + 1))


def _needed(statements: list[_Statement], ns: list[float]) -> set[int]:
    count = len(statements)
    depends: dict[int, set[int]] = {
        reader: {writer for writer in range(count) if statements[writer].writes & each.reads}
        for reader, each in enumerate(statements)
    }
    reach = {index: _closure(depends, index) for index in range(count)}
    rings = [{other for other in reach[index] if index in reach[other]} for index in range(count)]

    def rank(ring: set[int]) -> tuple[bool, float, int]:
        is_named = any(statements[index].is_named_training for index in ring)
        return is_named, sum(ns[index] for index in ring), len(ring)

    core = max(rings, key=rank, default=set())
    if not core:
        return set(range(count))  # nothing is carried over: all are equally needed
    return core | {other for index in core for other in reach[index]}


def _closure(depends: dict[int, set[int]], start: int) -> set[int]:
    seen: set[int] = set()
    todo = list(depends[start])
    while todo:
        index = todo.pop()
        if index not in seen:
            seen.add(index)
            todo += depends[index]
    return seen


def _statement(
    sources: Sources, node: ast.stmt, modules: frozenset[str], parts: _Parts
) -> _Statement:
    """Modules are read everywhere and never written."""
    reads: set[str] = set()
    bound: set[str] = set()
    writes: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            (bound if isinstance(inner.ctx, ast.Store) else reads).add(inner.id)
        elif isinstance(inner, ast.Attribute | ast.Subscript) and isinstance(inner.ctx, ast.Store):
            writes |= _root(inner)
        elif isinstance(inner, ast.AugAssign):
            reads |= _root(inner.target)
            writes |= _root(inner.target)
        elif isinstance(inner, ast.Call):
            changed = changed_by_call(sources, inner, is_taken=not isinstance(node, ast.Expr))
            reads |= changed  # also what a function uses from outside
            writes |= changed
    if isinstance(node, ast.Expr) and _grows(node.value):
        reads -= _grown(node.value)  # growing a list does not read it
    if any(isinstance(each, ast.Call) and EVALUATES.match(_name(each)) for each in ast.walk(node)):
        reads -= bound  # the training does not read the best result so far
        writes = set()
    modules |= {name for name in reads | writes if _RANDOM.search(name)}
    written = bound | _wholes(writes, parts)
    return _Statement(node, frozenset(reads) - modules, frozenset(written) - modules)


def _parts(node: ast.AST) -> _Parts:
    """`for w in weights`, `w = net.w`, `all = (a, b)`: changing one changes the other."""
    parts: _Parts = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.For | ast.AsyncFor | ast.comprehension):
            target, value = inner.target, inner.iter
        elif isinstance(inner, ast.Assign) and _hands_on(inner.value):
            target, value = inner.targets[0], inner.value
        else:
            continue
        for name in _names(target):
            parts.setdefault(name, set()).update(_names(value))
    return parts


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _hands_on(value: ast.expr) -> bool:
    """Whether the value is a part of something, or a collection of such, and not a new thing."""
    if isinstance(value, ast.Call):
        return _name(value) in _HAND_ON and all(map(_hands_on, value.args))
    if isinstance(value, ast.Tuple | ast.List):
        return all(map(_hands_on, value.elts))
    return isinstance(value, ast.Name | ast.Attribute | ast.Subscript)


def _wholes(names: set[str], parts: _Parts) -> set[str]:
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += parts.get(name, ())
    return found


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def changed_by_call(sources: Sources, call: ast.Call, *, is_taken: bool) -> set[str]:
    """Names of objects that a call may change."""
    name = _name(call)
    if name in _REPORTS:
        return _grown(call) if name in _GROWS else set()
    known = sources.definitions(name)
    receiver = _root(call.func.value) if isinstance(call.func, ast.Attribute) else set()
    if known:
        return _changed_by_users(sources, known, call, receiver)
    arguments = set() if is_taken else {n for each in call.args for n in _root(each)}
    return receiver | arguments


def _changed_by_users(
    sources: Sources, known: list[Function], call: ast.Call, receiver: set[str]
) -> set[str]:
    changed: set[str] = set()
    for function in known:
        names = [each.arg for each in function.args.posonlyargs + function.args.args]
        given = [receiver, *map(_root, call.args)] if receiver else list(map(_root, call.args))
        offset = 0 if receiver and names[:1] == ["self"] else int(bool(receiver))
        touched = _touched(sources, function, frozenset({function.name}))
        for name, argument in zip(names, given[offset:], strict=False):
            if name in touched:
                changed |= argument
        changed |= touched & (_globals(function) | (touched - set(names) - _locals(function)))
    return changed


def _locals(function: Function) -> set[str]:
    arguments = function.args
    given = [*arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored - _globals(function) | {each.arg for each in given if each is not None}


def _globals(function: Function) -> set[str]:
    return {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }


def _touched(sources: Sources, function: Function, seen: frozenset[str]) -> set[str]:
    """The names in a function whose objects it changes: stores into them, or calls that do."""
    touched: set[str] = set(_globals(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            touched |= _root(node)
        elif isinstance(node, ast.AugAssign):
            touched |= _root(node.target)
        elif isinstance(node, ast.Call):
            name = _name(node)
            inner = [each for each in sources.definitions(name) if each.name not in seen]
            for each in inner[:_MOST_DEFINITIONS]:
                if len(seen) < _DEEPEST and _touched(sources, each, seen | {each.name}):
                    touched |= _root(node.func) - {name}
                    touched |= {n for argument in node.args for n in _root(argument)}
    return _wholes(touched, _parts(function))


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def _grows(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") in _GROWS


def _grown(call: ast.expr) -> set[str]:
    is_method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return _root(call.func.value) if is_method else set()  # type: ignore[attr-defined]  # is_method says so
