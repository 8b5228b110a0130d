"""Calls that give the same result for the same arguments and change nothing, by their names."""

import ast
import builtins
import functools
import re
from typing import Final

from stepscope.analyze.source_text import Text

_BUILTINS: Final = frozenset(
    "abs all any bool complex dict divmod enumerate float frozenset int isinstance len list max "
    "min pow range reversed round set slice sorted str sum tuple zip".split()
)
_LIBRARIES: Final = frozenset(
    "collections functools itertools jax math numpy operator scipy tensorflow torch".split()
)
# Parts of a dotted name: what draws, reads, keeps state, or makes something that is trained.
_CHANGES: Final = re.compile(
    r"rand|seed|shuffle|dropout|normal$|uniform|bernoulli|multinomial|poisson|permutation|choice"
    r"|gumbel|noise|load|save|open|file|memmap|read|write|print|Variable|Parameter|optim|utils"
    r"|distributed|cuda|autograd|grad|jit|pmap|device_put|get_rng|set_|cache|partial|counter"
    r"|cycle|count$|Generator"
)
_TYPES: Final = frozenset(
    "Tensor FloatTensor DoubleTensor LongTensor IntTensor BoolTensor OrderedDict".split()
)
_METHODS: Final = frozenset(
    "abs all any argmax argmin argsort astype bool cast clamp clip clone coalesce copy cos cosh "
    "cpu cumprod cumsum detach diag diagonal div dot double eq exp expand expand_as flatten flip "
    "float floor gather ge get gt half index_select int inverse isfinite isin isinf isnan item "
    "items join keys le log log2 logical_and logical_not long lower lt masked_fill matmul max mean "
    "median min mm movedim mul ne new_full new_ones new_zeros nonzero norm numpy outer permute pow "
    "prod ravel reciprocal repeat repeat_interleave replace reshape roll round rsqrt rstrip "
    "set_shape sigmoid sign sin sinh sort split sqrt square squeeze std strip sub sum swapaxes t "
    "take tan tanh tile to to_dense to_sparse toarray tobytes todense tolist topk trace transpose "
    "tril triu type unbind unique unsqueeze upper values var view view_as where zfill".split()
)
_FILLS: Final = frozenset("add append extend fill insert setdefault sort update".split())


def dotted(function: ast.expr, text: Text) -> str | None:
    """The name of a library's function with its module: `np.eye` is `numpy.eye`."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return None
    module = _imports(text).get(function.id)
    return ".".join([module, *reversed(parts)]) if module else None


def is_pure(function: ast.expr, text: Text) -> bool:
    """A function of Python's or of a library."""
    if isinstance(function, ast.Name) and function.id not in _imports(text):
        return function.id in _BUILTINS and hasattr(builtins, function.id)
    name = dotted(function, text)
    if name is None or name.partition(".")[0] not in _LIBRARIES or _CHANGES.search(name):
        return False
    last = name.rpartition(".")[2]
    return not last[:1].isupper() or last in _TYPES


def is_pure_method(name: str) -> bool:
    """Of an array, a tensor, a text or a collection."""
    return name in _METHODS


def fills(name: str) -> bool:
    """Methods that change what they are called on, and nothing else: torch's end with a line."""
    return name in _FILLS or (name.endswith("_") and not name.endswith("__"))


@functools.lru_cache(maxsize=64)
def _imports(text: Text) -> dict[str, str]:
    """Names in a file to the modules, and what is in them, that they stand for."""
    found: dict[str, str] = {}
    for node in ast.walk(text.tree) if text.tree else ():
        if isinstance(node, ast.Import):
            for each in node.names:
                whole = each.name if each.asname else each.name.partition(".")[0]
                found[each.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found
