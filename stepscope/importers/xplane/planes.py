"""What an xplane file consists of: planes of lines of events, all in columns.

A plane is a host or a device, a line a thread or a stream. Events have statistics: named values of
their own, or of all events of one name.
"""

import dataclasses
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.xplane import protobuf_wire as wire

Value = int | float | str

LATEST: Final = 2**62  # later times are damage
# The fields that may hold a statistic's value.
DOUBLE, UNSIGNED, SIGNED, TEXT, BYTES, REFERENCE = range(2, 8)

EVENT_DTYPE: Final = np.dtype(
    [
        ("line", np.int32),  # index in the plane's lines
        ("name", np.int32),  # index in the plane's names
        ("start_ns", np.int64),  # Unix time where the file says when it began
        ("duration_ns", np.int64),
    ]
)


@dataclasses.dataclass(frozen=True, eq=False)
class Stats:
    """Values of events (or of names), one entry per value."""

    owner: Ints
    key: Ints  # id of the name
    kind: Ints  # the field that holds it
    value: wire.Unsigned  # of texts: where it starts
    stop: Ints

    def of(self, key: int) -> "Stats":
        kept = self.key == key
        return Stats(*(getattr(self, each.name)[kept] for each in dataclasses.fields(self)))


@dataclasses.dataclass(frozen=True, eq=False)
class Names:
    """The metadata of events, or of statistics, by id."""

    ids: Ints  # in order
    names: list[str]
    shown: list[str]  # the display name, if there is one
    stats: Stats  # of events: statistics shared by all events of the name

    def index(self, ids: Ints) -> Ints:
        """The index of each id; one past the last: unknown."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int64)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, at, len(self.ids))


@dataclasses.dataclass(frozen=True)
class Line:
    id: int
    name: str


@dataclasses.dataclass(eq=False)
class Plane:
    name: str
    lines: list[Line]
    events: npt.NDArray[Any]  # in the order of the file
    names: list[str]  # that events have
    shown_names: list[str]
    stats: dict[str, Value]  # of the plane itself
    _keys: dict[str, int]
    _key_names: dict[int, str]
    _own: Stats
    _of_names: Stats
    _data: bytes

    def integers(self, key: str, default: int = -1) -> Ints:
        """One per event: its own, else that of its name."""
        found = np.full(len(self.events), default, np.int64)
        if key not in self._keys:
            return found
        by_name = np.full(len(self.names), default, np.int64)
        shared = self._of_names.of(self._keys[key])
        by_name[shared.owner] = self._numbers(shared, default)
        found[:] = by_name[self.events["name"]]
        own = self._own.of(self._keys[key])
        found[own.owner] = self._numbers(own, default)
        return found

    def texts(self, key: str) -> tuple[Ints, list[str]]:
        """An index in the list for each event, -1 without."""
        found = np.full(len(self.events), -1, np.int64)
        if key not in self._keys:
            return found, []
        numbers: dict[str, int] = {}
        by_name = np.full(len(self.names), -1, np.int64)
        shared = self._of_names.of(self._keys[key])
        by_name[shared.owner] = [numbers.setdefault(t, len(numbers)) for t in self._texts(shared)]
        found[:] = by_name[self.events["name"]]
        own = self._own.of(self._keys[key])
        found[own.owner] = [numbers.setdefault(t, len(numbers)) for t in self._texts(own)]
        return found, list(numbers)

    def blobs(self, key: str) -> dict[int, bytes]:
        """By index in `names`: values that are not text."""
        if key not in self._keys:
            return {}
        shared = self._of_names.of(self._keys[key])
        columns = shared.owner.tolist(), shared.value.tolist(), shared.stop.tolist()
        return {owner: self._data[start:stop] for owner, start, stop in zip(*columns, strict=True)}

    def _numbers(self, stats: Stats, default: int) -> Ints:
        values = stats.value.astype(np.int64)
        doubles = stats.kind == DOUBLE
        values[doubles] = np.nan_to_num(
            stats.value[doubles].view(np.float64), nan=default, posinf=default, neginf=default
        ).clip(-LATEST, LATEST)
        texts = np.flatnonzero(np.isin(stats.kind, (TEXT, BYTES, REFERENCE)))
        if len(texts):
            read = self._texts(Stats(*(getattr(stats, each.name)[texts]
                                        for each in dataclasses.fields(stats))))  # fmt: skip
            values[texts] = [int(t) if t.lstrip("-").isdecimal() and len(t) < 19 else default
                             for t in read]  # fmt: skip
        return values

    def _texts(self, stats: Stats) -> list[str]:
        known: dict[tuple[int, int, int], str] = {}
        found = []
        columns = stats.kind.tolist(), stats.value.tolist(), stats.stop.tolist()
        for key in zip(*columns, strict=True):
            text = known.get(key)
            if text is None:
                text = known[key] = self._text(*key)
            found.append(text)
        return found

    def _text(self, kind: int, value: int, stop: int) -> str:
        if kind in (TEXT, BYTES):
            return self._data[value:stop].decode("utf-8", "replace")
        if kind == REFERENCE:
            return self._key_names.get(value, "")
        if kind == DOUBLE:
            return str(wire.double(value))
        return str(wire.signed(value) if kind == SIGNED else value)


@dataclasses.dataclass(eq=False)
class XSpace:
    path: Path
    planes: list[Plane]
    hosts: list[str]
    notes: list[str]
