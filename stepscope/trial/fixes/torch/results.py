"""What a model gets and returns: tensors, alone or in tuples, lists and dictionaries."""

from collections.abc import Callable, Mapping
from typing import Any


def each_tensor(torch: Any, value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure, with every tensor changed; what is of no known kind stays as it is."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping):
        changed = {key: each_tensor(torch, inner, change) for key, inner in value.items()}
        return _like(value, changed)
    if isinstance(value, tuple | list):
        return _like(value, [each_tensor(torch, inner, change) for inner in value])
    return value


def _like(value: Any, changed: Any) -> Any:
    if hasattr(value, "_fields"):  # a named tuple
        return type(value)(*changed)
    return type(value)(changed)


def cast(torch: Any, value: Any, given: Any, wanted: Any) -> Any:
    """Tensors of the type `given` become `wanted`, others stay."""
    return each_tensor(
        torch, value, lambda tensor: tensor.to(wanted) if tensor.dtype == given else tensor
    )
