"""Where the user's source may jit a function more than once."""

import ast

from stepscope.advise.evidence.source import Sources


def may_jit_again(sources: Sources) -> bool:
    """Whether `jit` stands in a function's body or in a loop: at the top of a module, and above a
    function there, it is called once."""
    trees = [text.tree for file in sources.files if (text := sources.text(file)) and text.tree]
    return any(_mentions_jit(node) for tree in trees for node in ast.walk(tree))


def _mentions_jit(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While):
        return False
    inside = (each for statement in node.body for each in ast.walk(statement))
    return any("jit" in (getattr(each, "id", None), getattr(each, "attr", None)) for each in inside)
