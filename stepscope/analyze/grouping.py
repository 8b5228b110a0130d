"""Groups of rows with the same values in some columns, for millions of rows, and sums over them."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints

Indices = npt.NDArray[np.int64]
_LARGEST_KEY: Final = 2**62
_ENOUGH: Final = 2**16  # keys to look up by, even for few rows


def grouped(*columns: npt.NDArray[Any]) -> tuple[Indices, Indices]:
    """The group of each row, and the first row of each group; groups are in the order of their
    values."""
    key = _key(columns)
    keys = int(key.max(initial=-1)) + 1
    if keys > max(_ENOUGH, 4 * len(key)):
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return group.reshape(-1), first
    # By lookup, without sorting.
    first_of = np.full(keys, -1, np.int64)
    first_of[key[::-1]] = np.arange(len(key))[::-1]  # of equal ones the last is kept
    present = np.flatnonzero(first_of >= 0)
    number = np.zeros(keys, np.int64)
    number[present] = np.arange(len(present))
    return number[key], first_of[present]


def _key(columns: tuple[npt.NDArray[Any], ...]) -> Indices:
    """One number for all columns: sorting tuples takes forty times as long."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns if len(key) else ():
        if int(column.max()) - int(column.min()) >= _LARGEST_KEY // (int(key.max()) + 1):
            key, column = _ranks(key), _ranks(column)
        least = int(column.min())
        key = key * (int(column.max()) - least + 1) + (column.astype(np.int64) - least)
    return key


def _ranks(values: npt.NDArray[Any]) -> Indices:
    """Small numbers in the same order."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def in_order(first: Indices) -> list[int]:
    """The groups in order of their first row."""
    order: list[int] = np.argsort(first, kind="stable").tolist()
    return order


def sums(group: Indices, values: npt.NDArray[Any], groups: int) -> Ints:
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values)
    return total
