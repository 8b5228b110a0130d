"""Whether a function's result depends on its arguments and its files alone."""

import ast

from stepscope.advise.evidence.random_calls import random_line
from stepscope.advise.evidence.source import Sources
from stepscope.trial.fixes.inside.readers import READERS
from stepscope.trial.fixes.proposing.named_function import NamedFunction, own_nodes

_CLOCKS = ("time.time", "time.perf_counter", "datetime.now", "datetime.datetime.now")


def side_effect(function: NamedFunction, sources: Sources) -> str | None:
    """Why not, with the line. What it sets in its arguments is seen when it runs: a call that
    changes them is not kept."""
    if not function.is_plain:
        return "it is a generator or a coroutine"
    drawn = random_line(function.node, sources)
    if drawn is not None:
        return f"line {drawn} draws random numbers"
    for node in own_nodes(function.node):
        if isinstance(node, ast.Global | ast.Nonlocal):
            return f"line {node.lineno} sets {', '.join(node.names)} outside of it"
        if _sets_elsewhere(node, _parameters(function)):
            return f"line {getattr(node, 'lineno', 0)} sets {ast.unparse(node)}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _CLOCKS:
            return f"line {node.lineno} asks for the time"
    return None


def _parameters(function: NamedFunction) -> set[str]:
    arguments = function.node.args
    return {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _sets_elsewhere(node: ast.AST, parameters: set[str]) -> bool:
    """Whether it sets an attribute of something that is not an argument."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return False
    root: ast.AST = node
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    return not (isinstance(root, ast.Name) and root.id in parameters)


def reads_with(function: NamedFunction, sources: Sources) -> bool:
    """Whether it, or a function of the user's that it calls, uses a reader that can be kept."""
    names = {name for readers in READERS.values() for name in readers}
    called = {
        ast.unparse(node.func) for node in ast.walk(function.node) if isinstance(node, ast.Call)
    }
    inner = [each for name in called for each in sources.definitions(name.rpartition(".")[2])]
    more = {
        ast.unparse(n.func) for each in inner for n in ast.walk(each) if isinstance(n, ast.Call)
    }
    return any(name.rpartition(".")[2] in names for name in called | more)
