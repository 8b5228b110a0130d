"""What the stages of a tf.data pipeline do: which operators their functions call."""

import importlib
import os
from collections.abc import Iterator
from typing import Any, Final

DATASETS: Final = "tensorflow.python.data.ops.dataset_ops"
_PYTHON: Final = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
_DRAWS: Final = ("Random", "TruncatedNormal", "Multinomial", "SampleDistorted", "StatefulUniform",
                 "StatefulStandardNormal", "StatefulTruncated")  # fmt: skip
_HARMLESS: Final = ("Assert", "Print", "PrintV2")  # stateful by name only


def dataset_class() -> Any:
    return importlib.import_module(DATASETS).DatasetV2


def kind(dataset: Any) -> str:
    """ "Map", "Shuffle" …"""
    return type(dataset).__name__.strip("_").removesuffix("Dataset").removesuffix("DatasetV2")


def stages(dataset: Any) -> Iterator[Any]:
    """From the last one back to where the elements come from."""
    waiting = [dataset]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each._inputs())


def calls_python(dataset: Any) -> bool:
    return any(name in _PYTHON for name in _operators(dataset))


def draws(dataset: Any) -> bool:
    """Numbers that depend on how often it was called before."""
    return any(
        name.startswith(_DRAWS) and not name.startswith("Stateless") for name in _operators(dataset)
    )


def is_stateful(dataset: Any) -> bool:
    """Whether the stage may do something else when it runs again."""
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    for name in _operators(dataset) - set(_HARMLESS):
        known = registry.get(name)
        if known is not None and known.is_stateful:
            return True
    return calls_python(dataset)


def described(dataset: Any) -> str:
    """The stage's function: "decode (train.py:31)"."""
    for function in dataset._functions():
        code = getattr(getattr(function, "_func", None), "__code__", None)
        if code is not None:
            file = os.path.basename(code.co_filename)
            return f"{code.co_qualname} ({file}:{code.co_firstlineno})"
    return kind(dataset)


def _operators(dataset: Any) -> set[str]:
    """The operators' names in the stage's own functions, and in those that they call."""
    found: set[str] = set()
    for function in dataset._functions():
        graph = function.function.graph.as_graph_def()
        found |= {node.op for node in graph.node}
        found |= {node.op for inner in graph.library.function for node in inner.node_def}
    return found
