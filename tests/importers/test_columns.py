"""Columns answer what a structured array answers, in less memory."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.importers.columns import Builder, Columns

DTYPE = np.dtype([("at", np.int64), ("name", np.int32), ("kind", np.int8), ("known", np.bool_)])
row = st.tuples(
    st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    st.integers(-1, 40_000),
    st.integers(0, 3),
    st.booleans(),
)
tables = st.lists(st.lists(row, max_size=6), max_size=4)


def built(parts: list[list[Any]]) -> tuple[Columns, npt.NDArray[Any]]:
    builder = Builder(DTYPE)
    arrays = [np.array(part, DTYPE) for part in parts]
    for array in arrays:
        builder.add(array)
    return builder.columns(), np.concatenate([np.zeros(0, DTYPE), *arrays])


def assert_same(columns: Any, table: npt.NDArray[Any]) -> None:
    assert len(columns) == len(table)
    for name in DTYPE.names or ():
        assert columns[name].dtype == table[name].dtype
        assert columns[name].tolist() == table[name].tolist()


@given(tables, st.data())
def test_columns_are_those_of_the_array(parts: list[list[Any]], data: st.DataObject) -> None:
    columns, table = built(parts)
    assert_same(columns, table)
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))), np.bool_
    )
    assert_same(columns[mask], table[mask])
    assert_same(columns[mask][::-1], table[mask][::-1])
    assert_same(columns[np.argsort(table["at"])], table[np.argsort(table["at"])])
    assert_same(pickle.loads(pickle.dumps(columns[mask])), table[mask])
    for number in range(-len(table), len(table)):
        assert columns[number] == table[number]


def test_a_column_of_one_number_takes_no_memory_and_small_numbers_take_little() -> None:
    table = np.zeros(100_000, DTYPE)
    table["name"] = np.arange(100_000) % 100
    columns = Columns.of(table)
    assert 100_000 <= columns.nbytes < 101_000
    assert len(pickle.dumps(columns)) < 102_000


def test_what_is_read_is_not_written_to_by_mistake() -> None:
    columns, table = built([[(5, 1, 0, True), (6, 2, 0, True)]])
    for name in ("at", "kind"):
        with pytest.raises(ValueError, match="read-only"):
            columns[name][0] = 1
    later = columns.having("at", columns["at"] + 10)
    assert (later["at"].tolist(), columns["at"].tolist()) == ([15, 16], [5, 6])
    assert later["name"].tolist() == table["name"].tolist()
