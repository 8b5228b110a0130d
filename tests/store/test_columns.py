"""Records as columns: those that are the same in all records take no memory."""

import numpy as np
import numpy.typing as npt
import pytest

from stepscope.store.columns import Columns, Selection
from stepscope.store.streams import EVENT_DTYPE

COUNT = 1000
SOME: list[Selection] = [
    np.arange(COUNT) % 3 == 0, np.array([5, 3, 3, 900]), slice(10, 20), slice(None),
    np.zeros(COUNT, np.bool_), np.zeros(0, np.intp),
]  # fmt: skip


def records() -> npt.NDArray[np.void]:
    found = np.zeros(COUNT, EVENT_DTYPE)
    found["start"] = np.arange(COUNT) * 7
    found["thread"] = 3
    found["value0"][500:] = 1
    return found


@pytest.mark.parametrize("chosen", SOME, ids=lambda each: str(each)[:20])
def test_columns_have_what_the_records_have(chosen: Selection) -> None:
    table = records()
    some, by_columns = table[chosen], Columns.of(table, slice(None)).only(chosen)
    at_once = Columns.of(table, chosen)
    assert len(by_columns) == len(at_once) == len(some)
    for name in EVENT_DTYPE.names or ():
        assert by_columns[name].tolist() == at_once[name].tolist() == some[name].tolist()
        assert by_columns[name].dtype == some[name].dtype


def test_what_is_the_same_in_all_records_takes_no_memory() -> None:
    columns = Columns.of(records(), slice(None)).only(slice(0, 800))
    sizes = {name: columns[name].strides[0] for name in ("start", "thread", "value0", "value1")}
    assert sizes == {"start": 8, "thread": 0, "value0": 8, "value1": 0}
