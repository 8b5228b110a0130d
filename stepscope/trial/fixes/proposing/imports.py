"""Which module a name in the user's source stands for."""

import ast

from stepscope.advise.evidence.source import Text


def modules_of(text: Text) -> dict[str, str]:
    """Local name to what was imported under it: `{"np": "numpy", "tanh": "math.tanh"}`."""
    found: dict[str, str] = {}
    for node in ast.walk(text.tree) if text.tree else ():
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def name_of(text: Text, module: str, usual: str) -> str:
    """How the file calls a module; `usual` if it does not import it itself."""
    names = modules_of(text)
    return next((name for name, stands_for in names.items() if stands_for == module), usual)


def root_of(node: ast.AST) -> str | None:
    """`x` of `x.y[0].z`; None if it is no name but the result of a call, say."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
