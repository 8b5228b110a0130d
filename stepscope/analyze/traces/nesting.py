"""Which operator is inside which, for millions of them: a walk up the parents, done in rounds.

A round handles all operators at once. Each looks twice as far up as the round before, so a tree
of depth 30 takes five rounds.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def parents(thread: Ints, start_ns: Ints, end_ns: Ints) -> Indices:
    """The innermost one around each, -1: none; by thread and start, the longer first.

    As torch nests them: what overlaps only in part has no parent. So the parent is the nearest
    one before that ends no earlier, and not before this one begins. Each starts with the one right
    before it; if that does not fit, it goes on to the one that this one has found so far.
    """
    found = np.arange(-1, len(thread) - 1)
    found[:1] = -1
    found[1:][thread[1:] != thread[:-1]] = -1
    wanted_ns = np.maximum(end_ns, start_ns + 1)
    active = np.flatnonzero(found >= 0)
    while True:
        active = active[end_ns[found[active]] < wanted_ns[active]]
        if not len(active):
            return found
        found[active] = found[found[active]]
        active = active[found[active] >= 0]


def stand_ins(parent: Indices, name: Ints) -> Indices:
    """What each one is counted as: an only child with its parent's name is the same call."""
    inside = parent >= 0
    above = np.maximum(parent, 0)
    children = np.bincount(parent[inside], minlength=len(parent))
    is_same = inside & (children[above] == 1) & (name == name[above])
    found = np.where(is_same, parent, np.arange(len(parent)))
    while not np.array_equal(further := found[found], found):
        found = further
    return found


def any_above(parent: Indices, wanted: Mask) -> Mask:
    """Whether one of those around each is wanted, at any depth."""
    above = _with_root(parent)
    found = np.append(wanted, False)[above]
    for up in _rounds(above):
        found |= found[up]
    return found[:-1]


def outermost(parent: Indices, wanted: Mask) -> Indices:
    """The outermost wanted one around each or itself, -1: none."""
    found = np.append(np.where(wanted, np.arange(len(parent)), -1), -1)
    for up in _rounds(_with_root(parent)):
        further = found[up]
        found = np.where(further >= 0, further, found)
    return found[:-1]


def innermost(parent: Indices, wanted: Mask) -> Indices:
    """The innermost wanted one around each or itself, -1: none."""
    found = np.append(np.where(wanted, np.arange(len(parent)), -1), -1)
    for up in _rounds(_with_root(parent)):
        found = np.where(found >= 0, found, found[up])
    return found[:-1]


def with_descendants(parent: Indices, values: Ints) -> Ints:
    """What each one has, and all below it: level by level, from the innermost."""
    total = values.astype(np.int64)
    if not total.any():
        return total
    depth = depths(parent)
    order = np.argsort(depth.astype(np.uint16), kind="stable")
    ends = np.cumsum(np.bincount(depth))
    for first, last in zip(ends[-2::-1].tolist(), ends[:0:-1].tolist(), strict=True):
        here = order[first:last]
        np.add.at(total, parent[here], total[here])
    return total


def depths(parent: Indices) -> Indices:
    """How many are around each."""
    above = _with_root(parent)
    found = (above < len(parent)).astype(np.int64)
    for up in _rounds(above):
        found += found[up]
    return found[:-1]


def _with_root(parent: Indices) -> Indices:
    """Adds a root at the end, which is above all that have no parent, and above itself."""
    root = len(parent)
    return np.append(np.where(parent >= 0, parent, root), root)


def _rounds(above: Indices) -> Iterator[Indices]:
    """What is one level up, two, four, ..., as long as there is anything below the root."""
    root = len(above) - 1
    while (above < root).any():
        yield above
        above = above[above]
