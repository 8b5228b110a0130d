"""Which members of a class or module `add_class` and `add_module` take in.

exact        functions defined in this namespace
children     also classes defined in it, and direct submodules
descendants  also what is defined further down
siblings     also what is defined beside it: in the same module, in the same parent package
none         everything that can be found there
"""

import enum
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

Kind = Literal["func", "class", "module"]
Filter = Callable[[Any], bool]


class ScopingPolicy(enum.StrEnum):
    """How far to go; see above."""

    EXACT = "exact"
    CHILDREN = "children"
    DESCENDANTS = "descendants"
    SIBLINGS = "siblings"
    NONE = "none"

    @classmethod
    def _missing_(cls, value: object) -> "ScopingPolicy | None":
        """Accepts names in upper or lower case."""
        found = [one for one in cls if isinstance(value, str) and one.value == value.casefold()]
        return found[0] if found else None


Policies = Mapping[Kind, ScopingPolicy]
PoliciesLike = str | ScopingPolicy | Mapping[str, str | ScopingPolicy] | None


def to_policies(wanted: PoliciesLike) -> Policies:
    """One policy for all kinds, one per kind, or the default."""
    if wanted is None:
        wanted = {"func": "siblings", "class": "siblings", "module": "exact"}
    if isinstance(wanted, str):
        policy = ScopingPolicy(wanted)
        return {"func": policy, "class": policy, "module": policy}
    return {
        "func": ScopingPolicy(wanted["func"]),
        "class": ScopingPolicy(wanted["class"]),
        "module": ScopingPolicy(wanted["module"]),
    }


def admits(policy: ScopingPolicy, namespace: type | ModuleType, kind: Kind) -> Filter:
    """A test for members of that kind in that namespace."""
    if policy is ScopingPolicy.NONE and not (kind == "module" and isinstance(namespace, type)):
        return lambda member: True
    if kind == "module":
        return _never if isinstance(namespace, type) else _modules_in_module(policy, namespace)
    if policy is ScopingPolicy.EXACT and kind == "class":
        return _never
    if isinstance(namespace, type):
        return _members_of_class(policy, namespace)
    return _members_of_module(policy, namespace)


def _never(member: Any) -> bool:
    return False


def _members_of_class(policy: ScopingPolicy, owner: type) -> Filter:
    inside = owner.__qualname__ + "."

    def admit(member: Any) -> bool:
        if member.__module__ != owner.__module__:
            return False
        if policy is ScopingPolicy.SIBLINGS:
            return True
        if policy is ScopingPolicy.DESCENDANTS:
            return bool(member.__qualname__.startswith(inside))
        return bool(member.__qualname__ == inside + member.__name__)

    return admit


def _members_of_module(policy: ScopingPolicy, owner: ModuleType) -> Filter:
    parent = owner.__name__.rpartition(".")[0]

    def admit(member: Any) -> bool:
        home = member.__module__ or ""
        if policy in (ScopingPolicy.EXACT, ScopingPolicy.CHILDREN):
            return bool(home == owner.__name__)
        if _is_within(home, owner.__name__):
            return True
        return policy is ScopingPolicy.SIBLINGS and bool(parent) and _is_within(home, parent)

    return admit


def _modules_in_module(policy: ScopingPolicy, owner: ModuleType) -> Filter:
    parent = owner.__name__.rpartition(".")[0]

    def admit(member: Any) -> bool:
        name: str = member.__name__
        if policy is ScopingPolicy.CHILDREN:
            return name.rpartition(".")[0] == owner.__name__
        if policy is ScopingPolicy.DESCENDANTS:
            return name.startswith(owner.__name__ + ".")
        return policy is ScopingPolicy.SIBLINGS and bool(parent) and name.startswith(parent + ".")

    return admit


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")
