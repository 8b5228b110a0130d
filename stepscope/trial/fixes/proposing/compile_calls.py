"""Calls of Keras' `compile` and `fit` in the user's source."""

import ast
from collections.abc import Iterator

from stepscope.advise.evidence.patch import with_argument
from stepscope.advise.evidence.source import Sources


def may_set(sources: Sources, name: str, *, unless: tuple[str, ...]) -> bool:
    """Whether some call gives it another value than these: a variable may hold any."""
    return any(
        keyword.arg == name and ast.unparse(keyword.value) not in unless
        for _, call in calls(sources, "compile")
        for keyword in call.keywords
    )


def calls(sources: Sources, method: str) -> Iterator[tuple[str, ast.Call]]:
    """File and call, of a method of something."""
    for file in sources.files:
        text = sources.text(file)
        for node in ast.walk(text.tree) if text and text.tree else ():
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == method:
                yield file, node


def compile_with(sources: Sources, name: str, value: str) -> str:
    """A diff of the one call, or what to write."""
    for file in sources.files:
        text = sources.text(file)
        found = (
            with_argument(file, text, lambda called: called == "compile", name, value)
            if (text is not None and text.tree is not None)
            else None
        )
        if found:
            return found
    where = "".join(f"{file}:{call.lineno}: " for file, call in calls(sources, "compile"))
    return f"# {where}\nmodel.compile(…, {name}={value})\n"
