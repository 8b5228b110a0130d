"""Work whose result cannot differ from step to step, as the source shows.

1. A name stays the same if all that is stored in it does, and nothing fills it with anything else.
   An attribute does if its object got it when it was made and nothing changes it later.
2. A parameter does if each call in the source hands over something that does.
3. A call does if its arguments do, and the function is one of Python's or a library's that only
   computes, or the user's own with nothing but such work in it.
4. The shape of an array counts as staying the same, whatever is in the array.

What the source does not show counts as changing.
"""

import ast
import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.source import Function, Loop, Sources, Text, last_line
from stepscope.advise.evidence.unchanging.callers import Callers
from stepscope.advise.evidence.unchanging.changed_names import Changes, changed_places, inside
from stepscope.advise.evidence.unchanging.names_bound import (
    bound,
    carried,
    constants,
    last_name,
    loops_around,
    parameters,
    root_of,
    roots,
)
from stepscope.advise.evidence.unchanging.pure_calls import dotted, fills, is_pure, is_pure_method
from stepscope.analyze.phases.idle_code import changed_by_call

_SHAPES: Final = frozenset(("shape", "dtype", "device", "ndim"))
_SIZES: Final = frozenset(("size", "dim", "get_shape"))
_PARTS: Final = frozenset(("T", "mT", "real", "imag"))
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_BLOCKS: Final = (ast.For, ast.While, ast.If, ast.Assert, ast.Pass, ast.Raise)
_QUIET: Final = ("no_grad()", "inference_mode()")
_PLAIN: Final = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.Dict, ast.Set, ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.keyword,
)  # fmt: skip
_Store = ast.Assign | ast.AnnAssign | ast.AugAssign


@dataclasses.dataclass(frozen=True)
class Piece:
    """Work in a function that runs in the steps: a statement, or a call of the user's in it."""

    line: int
    called: str | None  # None: all of the statement


@dataclasses.dataclass(frozen=True, eq=False)
class _Scope:
    """Where names are looked up: a function, or the body of a loop as a turn of it sees it."""

    text: Text
    function: Function | None
    body: list[ast.stmt]
    same: frozenset[str]  # names that stay the same

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        return list(inside(self.body))

    @functools.cached_property
    def own(self) -> set[str]:
        return bound(self.nodes)


class Unchanging:
    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._texts = [text for file in sources.files if (text := sources.text(file))]
        self._changes, self._callers = Changes(self._texts), Callers(self._texts)
        # What a function that calls itself asks about itself is not known: that is no.
        self._same_by_function: dict[Function, set[str]] = {}
        self._computes: dict[Function, bool] = {}

    def in_function(self, text: Text, function: Function) -> dict[int, Piece]:
        """By line."""
        return self._pieces(self._in_body(text, function, self._same_parameters(function)))

    def in_loop(self, text: Text, loop: Loop) -> dict[int, Piece]:
        """What a turn of the loop does again. Names from outside are the same unless it binds them;
        those that it carries from turn to turn are not."""
        function = text.function_at(loop.lineno)
        return self._pieces(self._in_turn(text, function, loop))

    # --- pieces -----------------------------------------------------------------------------------

    def _pieces(self, scope: _Scope) -> dict[int, Piece]:
        found: dict[int, Piece] = {}
        for node in scope.nodes:
            if isinstance(node, _SIMPLE) and (piece := self._piece(scope, node)) is not None:
                found |= dict.fromkeys(range(node.lineno, last_line(node) + 1), piece)
        return found

    def _piece(self, scope: _Scope, node: ast.stmt) -> Piece | None:
        if isinstance(node, _Store) and self._stays(scope, node):
            return Piece(node.lineno, None)
        for call in ast.walk(node):
            if (
                isinstance(call, ast.Call)
                and _is_users(self._sources, scope, call)
                and self._is(scope, call)
            ):
                return Piece(node.lineno, last_name(call))
        return None

    def _stays(self, scope: _Scope, node: _Store) -> bool:
        """Whether it does the same in every step, and only to names of its own."""
        names = {name for each in _targets(node) for name in roots(each)}
        is_work = node.value is not None and any(
            isinstance(each, ast.Call | ast.BinOp) for each in ast.walk(node.value)
        )
        is_own = bool(names) and names <= scope.own & scope.same
        return is_work and is_own and node.value is not None and self._is(scope, node.value)

    # --- names ------------------------------------------------------------------------------------

    def _in_body(self, text: Text, function: Function, same: set[str]) -> _Scope:
        own = bound(inside(function.body)) - parameters(function)
        return self._fixed(_Scope(text, function, function.body, frozenset(same | own)))

    def _in_turn(
        self, text: Text, function: Function | None, loop: Loop, same: set[str] | None = None
    ) -> _Scope:
        """`same`: the parameters that are so from call to call, and not only from turn to turn."""
        given = parameters(function) if function else set()
        body = function.body if function else (text.tree.body if text.tree else [])
        within = set(map(id, inside(loop.body)))
        outside = bound(node for node in inside(body) if id(node) not in within)
        outside |= given if same is None else same
        if isinstance(loop, ast.For | ast.AsyncFor):
            outside -= bound(ast.walk(loop.target))
        known = (outside | bound(inside(loop.body))) - carried(loop.body)
        return self._fixed(_Scope(text, function, loop.body, frozenset(known)))

    @functools.cache  # noqa: B019  # lives as long as the case does
    def _around(self, text: Text, line: int) -> _Scope:
        """As seen where a call is: in the outermost loop around it, or else in its function."""
        function = text.function_at(line)
        same = self._same_parameters(function) if function else set[str]()
        body = function.body if function else (text.tree.body if text.tree else [])
        loop = next(loops_around(body, line), None)
        if loop is not None:
            return self._in_turn(text, function, loop, same)
        if function is not None:
            return self._in_body(text, function, same)
        return self._fixed(_Scope(text, None, body, frozenset(bound(inside(body)))))

    def _fixed(self, scope: _Scope) -> _Scope:
        """Without names that get anything else, or are filled with it, until none is left."""
        while True:
            lost = {name for node in scope.nodes for name in self._lost(scope, node)}
            lost |= self._filled(scope)
            if not lost & scope.same:
                return scope
            scope = dataclasses.replace(scope, same=scope.same - lost)

    def _lost(self, scope: _Scope, node: ast.AST) -> Iterator[str]:
        """Names that get something here that may differ."""
        if isinstance(node, _Store | ast.NamedExpr):
            if node.value is not None and not self._is(scope, node.value):
                yield from (name for each in _targets(node) for name in roots(each))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            if not self._is(scope, node.iter):
                yield from bound(ast.walk(node.target))
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from bound(each for item in node.items for each in ast.walk(item))
        elif isinstance(node, ast.If | ast.While) and not self._is(scope, node.test):
            yield from bound(inside([*node.body, *node.orelse]))

    def _filled(self, scope: _Scope) -> set[str]:
        """Names whose object is filled with something that may differ, or that is changed at all
        where it comes from outside."""
        found = set()
        for node, place in changed_places(scope.nodes):
            stays = all(self._is(scope, each) for each in _filled_with(node))
            found |= {name for name in root_of(place) if not (stays and name in scope.own)}
        alone = {id(node.value) for node in scope.nodes if isinstance(node, ast.Expr)}
        for node in scope.nodes:
            if isinstance(node, ast.Call) and not _is_known(scope, node):
                is_taken = id(node) not in alone
                found |= changed_by_call(self._sources, node, is_taken=is_taken) - {"self"}
        return found

    # --- parameters -------------------------------------------------------------------------------

    def _same_parameters(self, function: Function) -> set[str]:
        """The method's own object, and what gets the same at every call that the source has."""
        if function not in self._same_by_function:
            names = [each.arg for each in function.args.posonlyargs + function.args.args]
            own = {"self"} & set(names)
            self._same_by_function[function] = own
            calls = list(self._callers.calls_of(function))
            rest = [name for name in names if name not in own]
            same = {
                name
                for position, name in enumerate(rest)
                if calls
                and all(
                    self._is(self._around(text, call.lineno), given)
                    for text, call in calls
                    for given in _handed_over(call, name, position)
                )
            }
            self._same_by_function[function] = own | same
        return self._same_by_function[function]

    # --- expressions ------------------------------------------------------------------------------

    def _is(self, scope: _Scope, node: ast.AST) -> bool:
        """Whether it is the same in every step."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in scope.same or _is_constant(scope, node.id)
        if isinstance(node, ast.Attribute):
            return self._is_attribute(scope, node)
        if isinstance(node, ast.Call):
            return self._is_call(scope, node)
        if not isinstance(node, _PLAIN):
            return False
        targets = bound(
            name for each in getattr(node, "generators", []) for name in ast.walk(each.target)
        )
        inner = dataclasses.replace(scope, same=scope.same | targets) if targets else scope
        return all(self._is(inner, each) for each in _parts(node))

    def _is_attribute(self, scope: _Scope, node: ast.Attribute) -> bool:
        if node.attr in _SHAPES or dotted(node, scope.text) is not None:
            return True
        is_part = node.attr in _PARTS or self._changes.is_kept(node.attr)
        return is_part and self._is(scope, node.value)

    def _is_call(self, scope: _Scope, call: ast.Call) -> bool:
        given = [*call.args, *(each.value for each in call.keywords)]
        if not all(self._is(scope, each) for each in given):
            return False
        if is_pure(call.func, scope.text):
            return True
        if _is_users(self._sources, scope, call):
            known = self._sources.definitions(last_name(call))
            return all(self._only_computes(each) for each in known)
        if not isinstance(call.func, ast.Attribute):
            return False
        is_array = is_pure_method(call.func.attr) and self._is(scope, call.func.value)
        return call.func.attr in _SIZES or is_array

    # --- functions --------------------------------------------------------------------------------

    def _only_computes(self, function: Function) -> bool:
        """Given the same, whether it returns the same and changes nothing that was there before."""
        if function not in self._computes:
            self._computes[function] = False
            self._computes[function] = self._is_computing(function)
        return self._computes[function]

    def _is_computing(self, function: Function) -> bool:
        text = next(each for each in self._texts if function in each.functions())
        scope = self._in_body(text, function, parameters(function))
        names = scope.own | parameters(function)
        if not names <= scope.same:
            return False
        statements = (node for node in scope.nodes if isinstance(node, ast.stmt))
        return all(self._is_plain(scope, each) for each in statements)

    def _is_plain(self, scope: _Scope, node: ast.stmt) -> bool:
        if isinstance(node, ast.With):
            return all(ast.unparse(item).endswith(_QUIET) for item in node.items)
        if isinstance(node, ast.Expr):
            return self._is(scope, node.value) or self._only_fills(scope, node.value)
        if isinstance(node, _Store):
            return all(_is_own(scope, node, each) for each in _targets(node))
        if isinstance(node, ast.Return):
            return node.value is None or self._is(scope, node.value)
        heads = [getattr(node, name, None) for name in ("test", "iter")]
        return isinstance(node, _BLOCKS) and all(self._is(scope, head) for head in heads if head)

    def _only_fills(self, scope: _Scope, value: ast.expr) -> bool:
        """`rows.append(x)`, of a list of its own."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        is_own = _is_own(scope, value, value.func.value)
        return is_own and fills(value.func.attr) and all(self._is(scope, a) for a in value.args)


def _is_constant(scope: _Scope, name: str) -> bool:
    """Of the module, seen in a function that has no such name itself."""
    function = scope.function
    if function is None or name in parameters(function) | bound(inside(function.body)):
        return False
    return name in constants(scope.text)


def _is_users(sources: Sources, scope: _Scope, call: ast.Call) -> bool:
    """Whether it is a function of the user's, or a method of the same object."""
    root = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_reached = root is None or (
        isinstance(root, ast.Name) and (root.id == "self" or root.id in scope.text.imported)
    )
    return is_reached and bool(sources.definitions(last_name(call)))


def _is_known(scope: _Scope, call: ast.Call) -> bool:
    name = last_name(call)
    return is_pure(call.func, scope.text) or is_pure_method(name) or fills(name)


def _is_own(scope: _Scope, node: ast.AST, target: ast.expr) -> bool:
    """Whether it binds a name, or fills what the function has made itself."""
    if isinstance(node, ast.Assign) and isinstance(target, ast.Name):
        return True
    given = parameters(scope.function) if scope.function else set()
    return bool(roots(target)) and roots(target) <= scope.own - given


def _targets(node: _Store | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr | ast.comprehension | ast.keyword):
            yield each


def _filled_with(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [*node.args, *(each.value for each in node.keywords)]
    if isinstance(node, ast.AugAssign):
        return [node.value]
    return [node.slice] if isinstance(node, ast.Subscript) else []


def _handed_over(call: ast.Call, name: str, position: int) -> list[ast.AST]:
    """What a call gives for a parameter. A call that spreads its arguments tells nothing."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return [ast.Pass()]
    if any(each.arg is None for each in call.keywords):
        return [ast.Pass()]
    given = [each.value for each in call.keywords if each.arg == name]
    return [*given, *call.args[position : position + 1]]
