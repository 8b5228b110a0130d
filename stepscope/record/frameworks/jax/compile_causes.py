"""JAX: what a function was compiled for, and why it was compiled again.

A signature is taken only when something was compiled: names of the arguments' arrays with shape and
type, and the static arguments by value.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

_MOST_NAMED: Final = 2  # differences
_LONGEST_VALUE: Final = 60  # characters
_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), tuple)


class Array(NamedTuple):
    shape: tuple[int, ...]
    dtype: str
    is_weak: bool  # a Python number, or made from one


class Signature(NamedTuple):
    arrays: dict[str, Array]
    statics: dict[str, str]


class Change(NamedTuple):
    kind: str  # the same for everything that differs in the same way
    text: str


def signature_of(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any], tree_util: Any
) -> Signature:
    info = getattr(function, "_jit_info", None)
    static_numbers = getattr(info, "static_argnums", ())
    static_names = set(getattr(info, "static_argnames", ()))
    named = dict(zip(_names(info, len(args)), args, strict=True))
    static_names.update(
        name for number, name in enumerate(named) if number in _counted(static_numbers, len(args))
    )
    named.update(kwargs)
    arrays: dict[str, Array] = {}
    statics: dict[str, str] = {}
    for name, value in named.items():
        if name in static_names:
            statics[name] = _shown(value)
            continue
        for path, leaf in tree_util.tree_flatten_with_path(value)[0]:
            arrays[name + tree_util.keystr(path)] = _array(leaf)
    return Signature(arrays, statics)


def _counted(numbers: Sequence[int], count: int) -> set[int]:
    return {number % count for number in numbers if -count <= number < count}


def _names(info: Any, count: int) -> list[str]:
    """Names of the positional arguments."""
    parameters = getattr(getattr(info, "fun_signature", None), "parameters", {})
    by_position = [
        name for name, each in parameters.items() if each.kind.name.startswith("POSITIONAL")
    ]
    return [*by_position[:count], *(f"args[{number}]" for number in range(len(by_position), count))]


def _array(leaf: Any) -> Array:
    dtype = getattr(leaf, "dtype", None)
    is_weak = bool(getattr(leaf, "weak_type", dtype is None))
    name = type(leaf).__name__ if dtype is None else str(dtype)
    return Array(tuple(getattr(leaf, "shape", ())), name, is_weak)


def _shown(value: Any) -> str:
    """Plain values only: the repr of the script's own classes may do anything."""
    if isinstance(value, _PLAIN):
        return repr(value)[:_LONGEST_VALUE]
    return f"a {type(value).__qualname__} at {id(value):#x}"


def change(earlier: Sequence[Signature], now: Signature) -> Change | None:
    """Compared with the nearest earlier one, the latest first. None: no difference."""
    if not earlier:
        return None
    found = [_differences(each, now) for each in reversed(earlier)]
    nearest = min(found, key=len)
    if not nearest:
        return None
    kinds = ", ".join(dict.fromkeys(each.kind for each in nearest[:_MOST_NAMED]))
    text = " and ".join(each.text for each in nearest[:_MOST_NAMED])
    more = len(nearest) - _MOST_NAMED
    return Change(kinds, text + (f" and {more} more differences" if more > 0 else ""))


def _differences(before: Signature, now: Signature) -> list[Change]:
    found = [
        Change(
            f"static {name}", f"the static argument {name} is {value}, was {before.statics[name]}"
        )
        for name, value in now.statics.items()
        if before.statics.get(name, value) != value
    ]
    if before.arrays.keys() != now.arrays.keys() or before.statics.keys() != now.statics.keys():
        names = sorted(before.arrays.keys() ^ now.arrays.keys())
        names += sorted(before.statics.keys() ^ now.statics.keys())
        found.append(Change("structure", f"its arguments have another structure ({names[0]})"))
    for name, array in now.arrays.items():
        other = before.arrays.get(name, array)
        found += _difference(name, other, array)
    return found


def _difference(name: str, before: Array, now: Array) -> list[Change]:
    if before.shape != now.shape:
        return [Change(f"shape {name}", f"{name} has shape {now.shape}, had {before.shape}")]
    if before.dtype != now.dtype:
        return [Change(f"dtype {name}", f"{name} is of type {now.dtype}, was {before.dtype}")]
    if before.is_weak != now.is_weak:
        how = "now" if now.is_weak else "no longer"
        return [Change(f"weak {name}", f"{name} is {how} weakly typed, as Python's numbers are")]
    return []
