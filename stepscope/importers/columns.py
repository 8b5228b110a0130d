"""Millions of events in columns, each as narrow as its numbers allow: 30 bytes an event, not 88.

To an analysis they are a structured array: `events["name"]` is a column in its full width, and
`events[mask]` are some of the events. Those are not copied: a column of them is gathered when it is
read. What is read cannot be written to; `having` makes a table with another column.
"""

from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

_NARROW: Final = (np.int8, np.int16, np.int32)
_TOGETHER: Final = 64  # tables of some 10,000 events
_PIECE: Final = 2**18
_Column = npt.NDArray[Any]


class Columns:
    """A table with the fields of a structured dtype."""

    def __init__(self, dtype: np.dtype[Any], narrow: dict[str, _Column], count: int) -> None:
        self.dtype = dtype
        self._narrow = narrow
        self._count = count
        self._chosen: npt.NDArray[np.integer[Any]] | None = None  # which rows; None: all

    @classmethod
    def of(cls, table: npt.NDArray[Any]) -> "Columns":
        built = Builder(table.dtype)
        built.add(table)
        return built.columns()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: Any) -> Any:
        """A column by its name, several by a list of names, a row by its number, else some rows."""
        if isinstance(key, str):
            return self._wide(key)
        if isinstance(key, int | np.integer):
            return self._some(np.array([key])).expanded()[0]
        if isinstance(key, list):
            return self.expanded()[key]
        return self._some(key)

    def _wide(self, name: str) -> _Column:
        narrow, dtype = self.narrow(name), self.dtype[name]
        if _is_constant(narrow):
            return np.broadcast_to(narrow[:1].astype(dtype), len(narrow))
        wide = narrow.astype(dtype, copy=False).view()
        wide.flags.writeable = False
        return wide

    def narrow(self, name: str) -> _Column:
        """The column as it is kept."""
        kept = self._narrow[name]
        if self._chosen is None:
            return kept
        if _is_constant(kept):
            return np.broadcast_to(kept[:1], self._count)
        chosen: _Column = kept[self._chosen]
        return chosen

    def expanded(self) -> npt.NDArray[Any]:
        """As a structured array, which can be written to."""
        table = np.zeros(self._count, self.dtype)
        for name in self.dtype.names or ():
            table[name] = self[name]
        return table

    def _some(self, wanted: Any) -> "Columns":
        key = wanted if isinstance(wanted, slice) else np.asarray(wanted)
        found = Columns(self.dtype, self._narrow, 0)
        found._chosen = self._numbers(key)
        found._count = len(found._chosen)
        return found

    def _numbers(self, wanted: Any) -> npt.NDArray[np.integer[Any]]:
        if self._chosen is not None:
            chosen: npt.NDArray[np.integer[Any]] = self._chosen[wanted]
            return chosen
        if isinstance(wanted, slice):
            return np.arange(self._count, dtype=np.int32)[wanted]
        if wanted.dtype == np.bool_:
            return _numbers_of(wanted)
        numbers = np.where(wanted < 0, wanted + self._count, wanted)
        narrow: npt.NDArray[np.int32] = numbers.astype(np.int32)
        return narrow

    def having(self, name: str, values: npt.ArrayLike) -> "Columns":
        """With another column in the place of one; all others are shared."""
        if self._chosen is not None:
            raise ValueError("Some rows of a table cannot be changed alone.")
        column = narrowest(np.asarray(values, self.dtype[name]))
        return Columns(self.dtype, self._narrow | {name: column}, self._count)

    @property
    def nbytes(self) -> int:
        """In memory: a column of a single number has that."""
        columns = (self.narrow(name) for name in self._narrow)
        return sum(each.itemsize if _is_constant(each) else each.nbytes for each in columns)

    def __reduce__(self) -> Any:
        """A column of a single number stays one."""
        columns = {name: self.narrow(name) for name in self._narrow}
        kept = {n: each[:1] if _is_constant(each) else each for n, each in columns.items()}
        return _restored, (self.dtype, kept, self._count)

    def as_table(self) -> npt.NDArray[Any]:
        """For the type checker, which knows no other table."""
        return cast(npt.NDArray[Any], self)


def _restored(dtype: np.dtype[Any], kept: dict[str, _Column], count: int) -> Columns:
    narrow = {
        name: each if len(each) == count else np.broadcast_to(each, count)
        for name, each in kept.items()
    }
    return Columns(dtype, narrow, count)


class Builder:
    """Takes structured arrays, one after the other."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._parts: dict[str, list[_Column]] = {name: [] for name in dtype.names or ()}
        self._latest: list[dict[str, _Column]] = []
        self._count = 0

    def add(self, table: npt.NDArray[Any]) -> None:
        self._count += len(table)
        self._latest.append({name: narrowest(table[name]) for name in self._parts})
        if len(self._latest) == _TOGETHER:
            self._put_together()

    def _put_together(self) -> None:
        """Small pieces, kept until the end, would leave holes in the memory."""
        for name, parts in self._parts.items():
            parts.append(_joined([each[name] for each in self._latest], self._dtype[name]))
        self._latest.clear()

    def columns(self) -> Columns:
        """Column by column: no more than one is there twice."""
        self._put_together()
        joined = {
            name: _joined(self._parts.pop(name), self._dtype[name]) for name in [*self._parts]
        }
        return Columns(self._dtype, joined, self._count)


def _numbers_of(wanted: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Piece by piece: NumPy's own numbers are twice as wide."""
    pieces = range(0, len(wanted), _PIECE)
    found = [np.flatnonzero(wanted[at : at + _PIECE]).astype(np.int32) + at for at in pieces]
    return np.concatenate(found, dtype=np.int32) if found else np.zeros(0, np.int32)


def _is_constant(column: _Column) -> bool:
    return column.strides == (0,) and len(column) > 0


def narrowest(column: _Column) -> _Column:
    """The same numbers in the narrowest type; a single number is there once."""
    if not len(column):
        return column.copy()
    least, most = column.min(), column.max()
    if least == most:
        return np.broadcast_to(least, len(column))
    kind = _type(least, most, column.dtype)
    return np.ascontiguousarray(column.astype(kind, copy=False))


def _type(least: Any, most: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind != "i":
        return dtype
    return next((kind for kind in _NARROW if _fits(kind, least, most)), dtype)


def _fits(kind: Any, least: Any, most: Any) -> bool:
    limits = np.iinfo(kind)
    return bool(limits.min <= least and most <= limits.max)


def _joined(parts: list[_Column], dtype: np.dtype[Any]) -> _Column:
    parts = [part for part in parts if len(part)]
    if not parts:
        return np.zeros(0, dtype)
    first = parts[0][0]
    if all(_is_constant(part) and part[0] == first for part in parts):
        return np.broadcast_to(first, sum(map(len, parts)))
    kind = np.result_type(
        *(_type(part[0], part[0], dtype) if _is_constant(part) else part.dtype for part in parts)
    )
    return np.concatenate(parts, dtype=kind, casting="same_kind")
