"""How many items a generator of the user's yields each time that it is called."""

import ast
import math

from stepscope.advise.evidence.case import Case
from stepscope.model import Location
from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.proposing.named_function import (
    NamedFunction,
    named_function,
    own_nodes,
)


def generator_of(case: Case, location: Location) -> tuple[NamedFunction, int] | Refusal:
    """The generator that the step loop takes its batches from, by its line in the loop's header or
    by the line in it that costs."""
    header = case.code.step_header
    for place in (location, header):
        for candidate in _candidates(case, place) if place else ():
            items = _items(candidate)
            if items:
                return candidate, items
    return Refusal(
        f"{location.file}:{location.line} is not in a generator: what it makes cannot be replayed."
    )


def _candidates(case: Case, place: Location) -> list[NamedFunction]:
    """The function itself, and those that its line calls."""
    text = case.code.sources.text(place.file)
    statement = text.statement_at(place.line) if text else None
    header = statement.iter if isinstance(statement, ast.For) else None
    called = {
        str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))
        for node in (ast.walk(header) if header else ())
        if isinstance(node, ast.Call)
    }
    found = [named_function(case, place)]
    for recorded in case.code.functions:
        if recorded.function.rpartition(".")[2] in called:
            first = recorded.lines[0].line if recorded.lines else recorded.first_line
            found.append(
                named_function(
                    case,
                    Location(file=recorded.file, line=first, function=recorded.function),
                )
            )
    return [each for each in found if isinstance(each, NamedFunction)]


def _items(function: NamedFunction) -> int | None:
    yields = {node.lineno for node in own_nodes(function.node) if isinstance(node, ast.Yield)}
    rows = [row for row in function.recorded.lines if row.line in yields]
    if not rows or any(row.estimated for row in rows):
        return None
    return math.ceil(sum(row.hits for row in rows) / max(1, function.recorded.calls or 1))
