"""Which names and attributes of the user's objects change later on, as the source shows.

1. An attribute changes where it is stored outside of what makes the object, and where anything in
   it is stored, filled or updated.
2. What an optimizer is given changes with every step, and so does what needs a gradient.
3. Going through a collection and changing its members changes the collection.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from stepscope.advise.evidence.source import Function, Text
from stepscope.advise.evidence.unchanging.pure_calls import fills, is_pure_method

_MAKES: Final = ("__init__", "__post_init__", "build", "setup")
_OPTIMIZES: Final = re.compile(
    r"optim|SGD|Adam|RMSprop|Adagrad|Adadelta|LBFGS|Lion|Muon|Rprop", re.I
)
_TRAINED: Final = re.compile(r"Parameter|Variable|requires_grad|grad\b")
_IN_PLACE: Final = re.compile(r"\.at$|shuffle$|copyto$|put$|place$|init\.\w+_$|heap\w+$")
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Changes:
    def __init__(self, texts: Iterable[Text]) -> None:
        self._made: set[str] = set()  # attributes that an object gets when it is made
        self._changed: set[str] = set()
        for text in texts:
            for function in [None, *text.functions()]:
                self._read(function, text)

    def is_kept(self, attribute: str) -> bool:
        """Whether objects have it from the start, and keep it as it is."""
        return attribute in self._made and attribute not in self._changed

    def _read(self, function: Function | None, text: Text) -> None:
        makes = function is not None and function.name in _MAKES
        body = text.tree.body if function is None and text.tree else getattr(function, "body", [])
        nodes = list(inside(body))
        for node in nodes:
            for attribute, value in _stores(node):
                if makes and value is not None and not _is_trained(value):
                    self._made.add(attribute)
                else:
                    self._changed.add(attribute)
        for _, place in changed_places(nodes):
            self._changed |= attributes_in(place)


def inside(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes, without those of functions and classes in it."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        yield node
        todo += ast.iter_child_nodes(node)


def changed_places(nodes: list[ast.AST]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What changes an object, and the expression for the object: not a name that is bound anew."""
    members: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for name in _names(node.target):
                members.setdefault(name, []).append(node.iter)
    for node in nodes:
        for place in _changed_by(node):
            yield node, place
            for name in _names(place):
                yield from ((node, each) for each in members.get(name, ()))


def _changed_by(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        if not isinstance(node.value, ast.Name):  # otherwise the attribute is what changes
            yield node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target  # of an array: in place
    elif isinstance(node, ast.Call):
        yield from _changed_by_call(node)


def _changed_by_call(call: ast.Call) -> Iterator[ast.expr]:
    name = ast.unparse(call.func)
    if isinstance(call.func, ast.Attribute) and not _is_harmless(call.func):
        yield call.func.value
    if _OPTIMIZES.search(name):
        yield from call.args
        yield from (each.value for each in call.keywords)
    elif _IN_PLACE.search(name):
        yield from call.args[:1]
    yield from (each.value for each in call.keywords if each.arg == "out")


def _is_harmless(method: ast.Attribute) -> bool:
    """Methods of arrays, and those of the user's own, whose text says what they do."""
    return is_pure_method(method.attr) or not fills(method.attr)


def _stores(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Attributes, and the values that they get."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            together = isinstance(target, ast.Tuple | ast.List)
            for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(each, ast.Attribute):
                    yield each.attr, node.value
                elif together and isinstance(each, ast.Starred):
                    yield from ((name, None) for name in attributes_in(each))
    elif isinstance(node, ast.AugAssign | ast.For):
        if isinstance(node.target, ast.Attribute):
            yield node.target.attr, None
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        name = node.args[0]
        is_buffer = ast.unparse(node.func).endswith(".register_buffer")
        if is_buffer and isinstance(name, ast.Constant):
            yield str(name.value), node.args[1]


def _is_trained(value: ast.expr) -> bool:
    """Weights, or an object with weights or a state of its own."""
    if _TRAINED.search(ast.unparse(value)):
        return True
    calls = [each.func for each in ast.walk(value) if isinstance(each, ast.Call)]
    last = [ast.unparse(each).rpartition(".")[2] for each in calls]
    return any(each[:1].isupper() for each in last)


def attributes_in(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
