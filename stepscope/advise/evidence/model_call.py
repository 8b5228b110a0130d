"""Where the script calls its torch model, and edits of the lines around it."""

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import diff
from stepscope.advise.evidence.source import Text, last_line
from stepscope.analyze.code.sampled_steps import Look
from stepscope.model import Location

_CALLS_MODULES: Final = "/torch/nn/modules/module.py"
_INDENT: Final = "    "


@dataclasses.dataclass(frozen=True, eq=False)
class ModelCall:
    file: str
    text: Text
    statement: ast.stmt
    model: str  # as the script calls it: `model`, `self.net`

    def after_assignment(self, line: str) -> str | None:
        """A diff with one more line where the model is made. None if that place is not clear."""
        made = self._assignment()
        if made is None:
            return None
        indent = self.text.lines[made.lineno - 1][: made.col_offset]
        after = list(self.text.lines)
        after.insert(last_line(made), indent + line.format(model=self.model))
        return diff(self.file, self.text.lines, after)

    def inside(self, header: str) -> str | None:
        """A diff with this call, and what follows up to the backward pass, in a block."""
        first, last = self.statement.lineno, last_line(self._last_before_backward())
        indent = self.text.lines[first - 1][: self.statement.col_offset]
        lines = self.text.lines
        block = [_INDENT + line if line.strip() else line for line in lines[first - 1 : last]]
        after = [*lines[: first - 1], f"{indent}{header}", *block, *lines[last:]]
        return diff(self.file, lines, after)

    def _assignment(self) -> ast.stmt | None:
        """The statement after which the model is what it stays: the last of its block that assigns
        it, a branch that may assign it again included."""
        lines = [
            (block, statement.lineno)
            for block in _blocks(self.text)
            for statement in block
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            and self.model in map(ast.unparse, _targets(statement))
        ]
        if not lines:
            return None
        around = [_containing(lines[0][0], line) for _, line in lines]
        known = [statement for statement in around if statement is not None]
        is_clear = len(known) == len(around)
        return max(known, key=lambda each: each.lineno) if is_clear else None

    def _last_before_backward(self) -> ast.stmt:
        block = next(block for block in _blocks(self.text) if self.statement in block)
        start = block.index(self.statement)
        for index in range(start + 1, len(block)):
            if "backward(" in ast.unparse(block[index]):
                return block[index - 1]
        return self.statement


def model_call(case: Case) -> ModelCall | None:
    """By the stacks of the forward pass. None if a library calls the model, or if it is not clear
    which call on that line does."""
    spent: dict[Location, float] = {}
    for look in case.stacks.time.looks:
        place = _caller(case, look) if look.phase == "forward" else None
        if place is not None:
            spent[place] = spent.get(place, 0.0) + look.ns
    if not spent:
        return None
    place = max(spent, key=lambda each: spent[each])
    text = case.code.sources.text(place.file)
    return _at(place, text) if text is not None else None


def _caller(case: Case, look: Look) -> Location | None:
    for outer, inner in zip(look.frames, look.frames[1:], strict=False):
        if inner.function.file.endswith(_CALLS_MODULES):
            return case.code.place(outer) if outer.is_users else None
    return None


def _at(place: Location, text: Text) -> ModelCall | None:
    statement = text.statement_at(place.line)
    if statement is None:
        return None
    called = [
        ast.unparse(node.func)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and _may_be_model(node.func, text)
    ]
    # In `criterion(model(x), y)` the inner one: arguments are computed first.
    return ModelCall(place.file, text, statement, called[-1]) if called else None


def _may_be_model(function: ast.expr, text: Text) -> bool:
    """`model` or `self.model`, but no function of a module and no method of a result."""
    parts = ast.unparse(function).split(".")
    if not all(part.isidentifier() for part in parts) or parts[0] in text.imported:
        return False
    return len(parts) == 1 or parts[0] == "self"


def _blocks(text: Text) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(text.tree) if text.tree else ():
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _containing(block: list[ast.stmt], line: int) -> ast.stmt | None:
    return next((each for each in block if each.lineno <= line <= last_line(each)), None)


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]
