"""Where a function is called, and the patch that calls it less often."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.advise.evidence.patch import diff
from stepscope.advise.evidence.source import Sources, Text, last_line
from stepscope.trial.fixes.proposing.named_function import NamedFunction


class _Site(NamedTuple):
    file: str
    text: Text
    statement: ast.Expr
    counter: str | None  # the variable that counts the turns of the loop around it


def called_every(sources: Sources, function: NamedFunction, every: int) -> str:
    """A diff if the function is called in one place, as a statement of its own in a loop that
    counts; otherwise the place and what to write there."""
    sites = [site for file in sources.files for site in _sites(file, sources.text(file), function)]
    if len(sites) == 1 and sites[0].counter is not None:
        found = _guarded(sites[0], f"if {sites[0].counter} % {every} == 0:")
        if found is not None:
            return found
    where = "".join(f"{file}:{line}: " for file, line in _calls(sources, function))
    return f"# {where}call {function.at} {every} times less often\nif step % {every} == 0:\n"


def _calls(sources: Sources, function: NamedFunction) -> Iterator[tuple[str, int]]:
    """Also those whose result is used: there, only the user knows what else to do."""
    for file in sources.files:
        text = sources.text(file)
        for node in ast.walk(text.tree) if text and text.tree else ():
            if isinstance(node, ast.Call) and _last_name(node.func) == function.node.name:
                yield file, node.lineno


def _sites(file: str, text: Text | None, function: NamedFunction) -> list[_Site]:
    tree = text.tree if text else None
    if text is None or tree is None:
        return []
    return [
        _Site(file, text, node, _counter(text, node))
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and _last_name(node.value.func) == function.node.name
    ]


def _last_name(called: ast.expr) -> str:
    return str(getattr(called, "attr", None) or getattr(called, "id", ""))


def _counter(text: Text, statement: ast.stmt) -> str | None:
    """`for step in range(…)` or `for step, batch in enumerate(…)`, directly around it: with another
    `if` in between, two conditions on the same counter may never hold at once."""
    around = [
        loop
        for loop in text.loops()
        if loop.lineno < statement.lineno and last_line(statement) <= last_line(loop)
    ]
    loop = max(around, key=lambda each: each.lineno, default=None)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    if statement not in loop.body:
        return None
    target = loop.target
    if _last_name(loop.iter.func) == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif _last_name(loop.iter.func) != "range":
        return None
    return target.id if isinstance(target, ast.Name) else None


def _guarded(site: _Site, condition: str) -> str | None:
    """The statement below a condition. Several statements on one line cannot be moved."""
    first, last = site.statement.lineno - 1, last_line(site.statement)
    before = site.text.lines[first:last]
    indent = before[0][: len(before[0]) - len(before[0].lstrip())]
    if site.statement.col_offset != len(indent.encode()):
        return None
    after = [
        *site.text.lines[:first],
        f"{indent}{condition}",
        *(f"    {line}" if line.strip() else line for line in before),
        *site.text.lines[last:],
    ]
    return diff(site.file, site.text.lines, after)
