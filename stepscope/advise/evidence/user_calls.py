"""Where the user's script calls something by name: what made an optimizer, a stage of tf.data."""

import ast
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.model import Location

# A stage's name begins with one of these; the dataset's method that makes it.
_METHODS: Final = {
    "Map": "map",
    "ParallelMap": "map",
    "Interleave": "interleave",
    "ParallelInterleave": "interleave",
    "FlatMap": "flat_map",
    "Filter": "filter",
    "Shuffle": "shuffle",
    "Batch": "batch",
    "ParallelBatch": "batch",
    "PaddedBatch": "padded_batch",
}


def stage_call(case: Case, stage: str) -> Location | None:
    """The call that made a stage of a tf.data pipeline."""
    method = next((_METHODS[each] for each in _METHODS if stage.startswith(each)), None)
    return only_call(case, f".{method}") if method else None


def only_call(case: Case, name: str) -> Location | None:
    """Of a function, or of a method if `name` starts with a dot. None if no such call ran, or
    several did: then it is not clear which one is meant."""
    found = list(_calls(case, name))
    return found[0] if len(found) == 1 else None


def _calls(case: Case, name: str) -> Iterator[Location]:
    ran = {
        (function.file, row.line): function.function
        for function in case.code.functions
        for row in function.lines
        if row.hits
    }
    for file in case.code.sources.files:
        text = case.code.sources.text(file)
        for node in ast.walk(text.tree) if text and text.tree else ():
            if not isinstance(node, ast.Call) or not _is_named(node.func, name):
                continue
            line = node.func.end_lineno or node.lineno  # in a chain of calls, the method's own
            at = next((each for each in (line, node.lineno) if (file, each) in ran), None)
            if at is not None:
                yield Location(file=file, line=line, function=ran[file, at])


def _is_named(function: ast.expr, name: str) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == name.removeprefix(".")
    return isinstance(function, ast.Name) and function.id == name
