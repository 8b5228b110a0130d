"""The tf.data pipelines in the user's source, and the patch that prepares batches ahead."""

import ast
from collections.abc import Iterator

from stepscope.advise.evidence.patch import diff
from stepscope.advise.evidence.random_calls import random_line
from stepscope.advise.evidence.source import Sources, Text
from stepscope.trial.fixes.proposing.imports import name_of, root_of

_BATCHES = ("batch", "padded_batch", "ragged_batch")
_BY_HAND = (
    "dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE)\n"
    "dataset.prefetch(tf.data.AUTOTUNE)  # as the last stage\n"
)


def makes_pipelines(sources: Sources) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("Dataset", "TFRecordDataset")
        for file in sources.files
        if (text := sources.text(file)) and text.tree
        for node in ast.walk(text.tree)
    )


def random_in_pipelines(sources: Sources) -> str | None:
    """Where a function that a pipeline maps draws random numbers: "data.py:31"."""
    for file in sources.files:
        text = sources.text(file)
        for call in _method_calls(text, "map") if text else ():
            for name in {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}:
                for function in sources.definitions(name):
                    if (line := random_line(function, sources)) is not None:
                        return f"{file}:{line}"
    return None


def in_parallel(sources: Sources) -> str:
    """A diff of each file with maps or batches; otherwise what to write."""
    found = [
        diff(file, text.lines, _edited(text))
        for file in sources.files
        if (text := sources.text(file)) and text.tree
    ]
    return "".join(filter(None, found)) or _BY_HAND


def _edited(text: Text) -> list[str]:
    """From the last place in the file to the first: an edit moves what is behind it."""
    auto = f"{name_of(text, 'tensorflow', 'tf')}.data.AUTOTUNE"
    inside = f", num_parallel_calls={auto})"
    edits = [
        (*_end(call), 1, inside)
        for call in _method_calls(text, "map")
        if len(call.args) == 1 and not call.keywords
    ]
    batches = [call for name in _BATCHES for call in _method_calls(text, name)]
    if len(batches) == 1 and not any(_method_calls(text, "prefetch")):
        edits.append((*_end(batches[0]), 0, f".prefetch({auto})"))
    lines = list(text.lines)
    for row, column, replaced, words in sorted(edits, reverse=True):
        raw = lines[row].encode()
        lines[row] = (raw[: column - replaced] + words.encode() + raw[column:]).decode()
    return lines


def _end(call: ast.Call) -> tuple[int, int]:
    return (call.end_lineno or call.lineno) - 1, call.end_col_offset or 0


def _method_calls(text: Text, method: str) -> Iterator[ast.Call]:
    """Of the result of another call, or of a name that is no module: not `jax.tree.map`."""
    for node in ast.walk(text.tree) if text.tree else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = root_of(node.func.value)
            if node.func.attr == method and (root is None or root not in text.imported):
                yield node
