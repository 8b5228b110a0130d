"""The lines of a script that ask torch for 64 bits, and how to write them in 32."""

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case

_TYPES: Final = ("torch.float64", "torch.double")
_FROM_ARRAYS: Final = ("torch.from_numpy", "torch.as_tensor", "torch.tensor")
_ANYWHERE: Final = (
    "Where arrays become tensors: .float(), since NumPy makes 64 bits by default; and no .double() "
    "of the model.\n"
)


class _Edit(NamedTuple):
    line: int
    start: int  # columns in bytes, as the syntax tree counts them
    end: int
    words: str


def patch_of(case: "Case") -> str:
    """A diff, unless arrays become tensors somewhere: which of them are doubles is not in the text,
    so the places are named instead."""
    from stepscope.advise.evidence.patch import diff

    texts = [(file, case.code.sources.text(file)) for file in case.code.sources.files]
    known = [(file, text.lines, text.tree) for file, text in texts if text and text.tree]
    if any(True for _, _, tree in known for _ in _from_arrays(tree)):
        return "".join(_places(file, lines, tree) for file, lines, tree in known)
    diffs = [diff(file, lines, edited(lines, _doubles(tree))) for file, lines, tree in known]
    return "".join(filter(None, diffs)) or _ANYWHERE


def _places(file: str, lines: list[str], tree: ast.Module) -> str:
    edits = sorted([*_doubles(tree), *_from_arrays(tree)])
    after = edited(lines, edits)
    return "".join(
        f"{file}:{line}: {after[line - 1].strip()}\n" for line in sorted({e.line for e in edits})
    )


def _doubles(tree: ast.Module) -> Iterator[_Edit]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in _TYPES:
            yield _Edit(node.lineno, node.col_offset, node.end_col_offset or 0, "torch.float32")
        if _calls_double(node):
            end = node.func.end_col_offset or 0
            line = node.func.end_lineno or node.lineno
            yield _Edit(line, end - len("double"), end, "float")


def _calls_double(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "double" and not node.args


def _from_arrays(tree: ast.Module) -> Iterator[_Edit]:
    """Without a type of their own, they take over NumPy's. One that is only asked for its type says
    what the data is, and does not become the data."""
    asked = {
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute) and each.attr in ("dtype", "shape", "device")
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in _FROM_ARRAYS:
            continue
        if node in asked:
            continue
        if not any(keyword.arg == "dtype" for keyword in node.keywords):
            end = node.end_col_offset or 0
            yield _Edit(node.end_lineno or node.lineno, end, end, ".float()")


def edited(lines: list[str], edits: Iterable[_Edit]) -> list[str]:
    after = list(lines)
    for edit in sorted(edits, reverse=True):
        raw = after[edit.line - 1].encode()
        after[edit.line - 1] = (raw[: edit.start] + edit.words.encode() + raw[edit.end :]).decode()
    return after
