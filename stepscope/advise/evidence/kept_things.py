"""Lines that keep something from step to step: what they add to, and whether that has a bound.

`kept.append(x)`, `cache[step] = x`, `history += [x]`, `seen = np.concatenate([seen, x])`; not
numbers, which are small, and not what is made anew in each step or epoch.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.code import Code, StepLine
from stepscope.advise.evidence.source import Loop, Text
from stepscope.model import Location

_GROWS: Final = frozenset({"append", "appendleft", "extend", "add", "insert", "setdefault", "put"})
_JOINS: Final = frozenset({"concatenate", "concat", "cat", "vstack", "hstack", "stack", "append"})
_DICTS: Final = frozenset({"dict", "defaultdict", "OrderedDict"})
_CLOCK: Final = re.compile(r"\btime\(|perf_counter|process_time|monotonic")
_NUMBER: Final = re.compile(r"time\(|perf_counter|\.item\(|\bfloat\(|\bint\(|\blen\(|round\(")
_BOUND: Final = re.compile(r"maxlen|max_?size|max_?len|capacity|buffer_?size|limit", re.I)
_EVERY_STEP: Final = 0.5  # hits a step: in most steps
_MOST_HITS: Final = 2.0  # a step: what grows more often is made and thrown away within it


@dataclasses.dataclass(frozen=True)
class Kept:
    location: Location
    owner: str  # "kept", "self.outputs"
    hits: float  # by step
    has_bound: bool
    most: int | None  # how many it holds, where the source says so


def kept_things(code: Code) -> list[Kept]:
    """Those in the step loop first, then those in functions that it calls about once a step."""
    header = code.step_header
    again = {
        (function.file, row.line)
        for function in code.functions
        for row in function.lines
        if row.hits > 1
    }
    found = []
    for line in code.lines:
        text = code.sources.text(line.function.file)
        if text is None or not _EVERY_STEP <= line.hits <= _MOST_HITS:
            continue
        is_here = header is not None and line.function.file == header.file
        loop = _loop_at(text, header.line) if is_here and header else None
        for owner, kept in _on_line(text, line, loop):
            if not _is_made_again(text, owner, line, again):
                found.append((_is_in(loop, line), kept))
    return [kept for _, kept in sorted(found, key=lambda each: not each[0])]


def _loop_at(text: Text, line: int) -> Loop | None:
    return next((each for each in text.loops() if each.lineno == line), None)


def _is_in(loop: Loop | None, line: StepLine) -> bool:
    return loop is not None and loop.lineno <= line.row.line <= (loop.end_lineno or 0)


def _on_line(text: Text, line: StepLine, loop: Loop | None) -> Iterator[tuple[ast.expr, Kept]]:
    statement = text.statement_at(line.row.line)
    if statement is None or isinstance(statement, Loop):
        return
    for owner, value in _additions(text, statement):
        if _is_number(text, value, line.row.line) or _is_made_in(text, owner, line, loop):
            continue
        made = _makings(text, owner, line.row.line)
        most = next((each for each in map(_literal_bound, made) if each), None)
        has_bound = most is not None or any(map(_says_bound, made)) or _is_emptied(text, owner)
        yield owner, Kept(line.location, ast.unparse(owner), line.hits, has_bound, most)


def _additions(text: Text, statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(what grows, what is added)"""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr in _GROWS and call.args:
            yield call.func.value, call.args[-1]
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        if isinstance(statement.value, ast.List | ast.Tuple):
            yield statement.target, statement.value
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, ast.Subscript) and _is_dict(text, target):
            yield target.value, statement.value
        elif _is_joined(target, statement.value):
            yield target, statement.value


def _is_joined(target: ast.expr, value: ast.expr) -> bool:
    """`seen = np.concatenate([seen, x])`, `seen = seen + [x]`"""
    is_join = isinstance(value, ast.Call) and _called(value) in _JOINS
    is_sum = isinstance(value, ast.BinOp) and isinstance(value.right, ast.List)
    name = ast.unparse(target)
    inside = (ast.unparse(node) for node in ast.walk(value) if isinstance(node, type(target)))
    return (is_join or is_sum) and name in inside


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def _is_number(text: Text, value: ast.expr, line: int) -> bool:
    """Also a name that was given one above."""
    if isinstance(value, ast.Constant) or _NUMBER.search(ast.unparse(value)):
        return True
    if isinstance(value, ast.BinOp):  # of arrays and numbers it is an array, of clocks a number
        return any(_was_given(text, each, line, _CLOCK) for each in (value.left, value.right))
    return _was_given(text, value, line, _NUMBER)


def _was_given(text: Text, value: ast.expr, line: int, what: re.Pattern[str]) -> bool:
    if not isinstance(value, ast.Name):
        return False
    given = [each for each in _assignments(text, value) if each.lineno <= line]
    last = max(given, key=lambda each: each.lineno, default=None)
    return last is not None and bool(what.search(ast.unparse(last.value)))


def _is_made_in(text: Text, owner: ast.expr, line: StepLine, loop: Loop | None) -> bool:
    """Whether it is made anew in each turn, or in each call of a function that the loop calls."""
    if not isinstance(owner, ast.Name):
        return False
    inside = loop if _is_in(loop, line) else text.function_at(line.row.line)
    if inside is None:
        return False
    first, last = inside.lineno, inside.end_lineno or inside.lineno
    made = [each for each in _assignments(text, owner) if not _is_joined(owner, each.value)]
    return any(first <= each.lineno <= last for each in made)


def _is_made_again(
    text: Text, owner: ast.expr, line: StepLine, again: set[tuple[str, int]]
) -> bool:
    """Whether it begins anew from time to time, as in each epoch. `again`: lines that ran more than
    once."""
    made = [each for each in _assignments(text, owner) if not _is_joined(owner, each.value)]
    return any((line.function.file, each.lineno) in again for each in made)


def _assignments(text: Text, wanted: ast.expr) -> list[ast.Assign]:
    name = ast.unparse(wanted)
    return [
        node
        for node in (ast.walk(text.tree) if text.tree else ())
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == name for each in node.targets)
    ]


def _makings(text: Text, owner: ast.expr, line: int) -> list[ast.expr]:
    """What it is made from: in the function around the line, if it is made there."""
    function, made = text.function_at(line), _assignments(text, owner)
    here = [each for each in made if text.function_at(each.lineno) is function]
    return [each.value for each in here or made]


def _is_dict(text: Text, target: ast.Subscript) -> bool:
    """Whether what is assigned into is a dictionary, and not an array."""
    return any(
        isinstance(made, ast.Dict) or (isinstance(made, ast.Call) and _called(made) in _DICTS)
        for made in _makings(text, target.value, target.lineno)
    )


# --- bounds ---------------------------------------------------------------------------------------


def _literal_bound(made: ast.expr) -> int | None:
    """100 of `deque(maxlen=100)`"""
    given = made.keywords if isinstance(made, ast.Call) else []
    for each in given:
        if _BOUND.search(each.arg or "") and isinstance(each.value, ast.Constant):
            return each.value.value if isinstance(each.value.value, int) else None
    return None


def _says_bound(made: ast.expr) -> bool:
    return isinstance(made, ast.Call) and bool(_BOUND.search(ast.unparse(made)))


def _is_emptied(text: Text, owner: ast.expr) -> bool:
    """`del kept[0]`, `kept.pop(0)`, `kept.clear()`: somebody takes out of it."""
    name = re.escape(ast.unparse(owner))
    taken = re.compile(rf"\bdel {name}\[|(?<![\w.]){name}\.(pop|popleft|popitem|clear)\(")
    return any(taken.search(line) for line in text.lines)
