"""The user's function that a finding names, if it can be replaced as a whole."""

import ast
import dataclasses
import os
from typing import Any

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.source import Function, Text
from stepscope.model import FunctionLines, Location
from stepscope.model.findings import Finding
from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.subject import Subject


@dataclasses.dataclass(frozen=True, eq=False)
class NamedFunction:
    recorded: FunctionLines
    node: Function
    text: Text

    @property
    def place(self) -> dict[str, Any]:
        """As `inside.user_functions.Place` takes it."""
        return {
            "file": os.path.basename(self.recorded.file),
            "function": self.recorded.function,
            "first_line": self.recorded.first_line,
        }

    @property
    def at(self) -> str:
        return f"{self.node.name} ({self.recorded.file}:{self.node.lineno})"

    @property
    def is_plain(self) -> bool:
        """Neither a coroutine nor a generator; a function inside it may yield."""
        yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(self.node))
        return isinstance(self.node, ast.FunctionDef) and not yields


def own_nodes(function: Function) -> list[ast.AST]:
    """Everything in the function's body, without what is in functions inside it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return sorted(found, key=lambda node: getattr(node, "lineno", 0))


def finding_of(subject: Subject, *ids: str) -> Finding | None:
    """The finding that a fix is proposed for, or the first one of these in the advice."""
    if subject.finding is not None:
        return subject.finding
    return next((each for each in subject.advice.findings if each.id in ids), None)


def named_function(case: Case, location: Location | None) -> NamedFunction | Refusal:
    """The function around the finding's line: of a comprehension, the one that it is in."""
    if location is None:
        return Refusal("The finding names no line of your own code.")
    text = case.code.sources.text(location.file)
    node = text.function_at(location.line) if text else None
    if text is None or node is None:
        return Refusal(
            f"{location.file}:{location.line} is in no function: only functions can be replaced "
            "from outside."
        )
    first_line = min([each.lineno for each in node.decorator_list], default=node.lineno)
    for recorded in case.code.functions:
        if recorded.file == location.file and recorded.first_line == first_line:
            return NamedFunction(recorded, node, text)
    return Refusal(f"{node.name} ({location.file}:{node.lineno}) was not recorded.")
